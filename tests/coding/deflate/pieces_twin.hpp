// SPDX-License-Identifier: Apache-2.0
//
// The device's Deflate encoder on one thread of the host: the same pieces, the same steps, the same bytes.
#pragma once

#include "coding/deflate/adler32.hpp"
#include "coding/deflate/matches_twin.hpp"
#include "coding/deflate/pieces.hpp"
#include "coding/pieces_twin.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace terrazzo::coding::test {

class DeflatePieceTwin {
 public:
  static constexpr std::uint32_t kPieceWords = kDeflatePieceWords, kUnencoded = kDeflateStored;

  // Fills `words`; returns the bits, or kDeflateStored.
  template <std::uint32_t kLanes>
  std::uint32_t encode(std::vector<std::byte> const& tile, std::uint64_t piece, std::uint32_t* words) {
    matches_.load(tile, piece);
    matches_.find<kLanes, kDeflateShortestMatch>();
    codes_ = {};
    codes_.literals.counts[kDeflateEndOfBlock] = 1;
    matches_.parse(kDeflateLongestMatch, [&](DeflateToken token) { count_token(codes_, token); });
    ThreadsInTurn threads;
    make_block_codes(threads, work_, codes_);
    std::uint32_t const bits = codes_.header_bits + codes_.body_bits;
    if (bits > deflate_piece_most_bits(matches_.bytes())) { return kDeflateStored; }
    bool const last = (piece + 1) * kDeflatePieceBytes >= tile.size();
    std::fill_n(words, deflate_words(bits), 0U);
    threads.each([&](std::uint32_t thread) { put_block_header(work_, codes_, last, thread, words); });
    DeflateBits out(words, codes_.header_bits);
    for (std::uint32_t i = 0; i < matches_.bytes(); ++i) {
      token_bits(codes_, DeflateToken{matches_.tokens()[i]}).put(out);
    }
    out.put(codes_.literals.codes[kDeflateEndOfBlock] & 0xFFFFU, codes_.literals.lengths[kDeflateEndOfBlock]);
    out.finish();
    return bits;
  }

  [[nodiscard]] static std::uint32_t lanes(int level) { return deflate_lanes(level); }
  [[nodiscard]] static std::uint32_t words_of(std::uint32_t size) { return deflate_words(size); }
  [[nodiscard]] static std::uint64_t first_start(std::uint64_t) { return 0; }
  [[nodiscard]] static std::uint64_t piece_end(std::uint64_t start, std::uint32_t size, std::uint32_t bytes) {
    return deflate_piece_end(start, size, bytes);
  }
  [[nodiscard]] static DeflatePieceSource source(PiecesOfTile const& pieces, std::uint64_t piece) {
    return {{.input = pieces.tile.data(),
             .input_bytes = pieces.tile.size(),
             .words = pieces.words.data(),
             .sizes = pieces.sizes.data(),
             .start_bits = pieces.starts.data(),
             .piece_count = pieces.count},
            piece};
  }
  [[nodiscard]] static std::vector<std::byte> head(std::vector<std::byte> const&) {
    std::vector<std::byte> bytes(kZlibHeaderBytes);
    for (std::uint32_t i = 0; i < kZlibHeaderBytes; ++i) {
      bytes[i] = static_cast<std::byte>(kZlibHeader >> (8 * i) & 0xFFU);
    }
    return bytes;
  }
  [[nodiscard]] static std::vector<std::byte> tail(std::vector<std::byte> const& tile) {
    AdlerSums sums;
    for (std::size_t i = 0; i < tile.size(); ++i) {
      sums.add(static_cast<std::uint32_t>(tile[i]), tile.size() - i);
      if (i % 4096 == 0) { sums = sums.reduced(); }
    }
    std::uint32_t const adler = adler32_of(sums, tile.size());
    std::vector<std::byte> bytes(kZlibTailBytes);
    for (std::uint32_t i = 0; i < kZlibTailBytes; ++i) {
      bytes[i] = static_cast<std::byte>(adler >> (24 - 8 * i) & 0xFFU);
    }
    return bytes;
  }

  [[nodiscard]] DeflateCodes const& codes() const { return codes_; }

 private:
  MatchesTwin matches_;
  DeflateCodeWork work_;
  DeflateCodes codes_;
};

// A tile's zlib stream as the device makes it.
inline std::vector<std::byte> deflate_in_pieces(std::vector<std::byte> const& tile, int level) {
  return encode_in_pieces<DeflatePieceTwin>(tile, level);
}

}  // namespace terrazzo::coding::test
