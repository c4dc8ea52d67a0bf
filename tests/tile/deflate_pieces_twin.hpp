// SPDX-License-Identifier: Apache-2.0
//
// The device's Deflate encoder on one thread of the host: the same pieces, the same steps, the same bytes.
#pragma once

#include "tile/adler32.hpp"
#include "tile/deflate_pieces.hpp"
#include "tile/matches_twin.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace terrazzo::tile::test {

class DeflatePieceTwin {
 public:
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

  [[nodiscard]] DeflateCodes const& codes() const { return codes_; }

 private:
  MatchesTwin matches_;
  DeflateCodeWork work_;
  DeflateCodes codes_;
};

// A tile's zlib stream as the device makes it.
template <std::uint32_t kLanes>
std::vector<std::byte> deflate_in_pieces(std::vector<std::byte> const& tile) {
  std::uint64_t const count = deflate_piece_count(tile.size());
  if (count == 0) { return {}; }
  auto const twin = std::make_unique<DeflatePieceTwin>();
  std::vector<std::uint32_t> words(count * kDeflatePieceWords, 0xEEEEEEEE), sizes(count);
  std::vector<std::uint64_t> starts(count + 1);
  for (std::uint64_t i = 0; i < count; ++i) {
    sizes[i] = twin->encode<kLanes>(tile, i, words.data() + i * kDeflatePieceWords);
    starts[i + 1] = deflate_piece_end(starts[i], sizes[i], deflate_piece_bytes(tile.size(), i));
  }
  DeflateJoin const join{tile.data(), tile.size(), words.data(), sizes.data(), starts.data(), count};
  std::vector<std::byte> out(kZlibHeaderBytes + join.stream_bytes() + kZlibTailBytes);
  for (std::uint32_t i = 0; i < kZlibHeaderBytes; ++i) { out[i] = static_cast<std::byte>(kZlibHeader >> (8 * i)); }
  for (std::uint64_t piece = 0; piece < count; ++piece) {
    for (std::uint64_t at = join.first_byte(piece); at < join.first_byte(piece + 1); at += 4) {
      std::uint32_t value = join.word_at(at, piece);
      for (std::uint64_t i = at; i < std::min(at + 4, join.first_byte(piece + 1)); ++i, value >>= 8) {
        out[kZlibHeaderBytes + i] = static_cast<std::byte>(value & 0xFFU);
      }
    }
  }
  AdlerSums sums;
  for (std::size_t i = 0; i < tile.size(); ++i) {
    sums.add(static_cast<std::uint32_t>(tile[i]), tile.size() - i);
    if (i % 4096 == 0) { sums = sums.reduced(); }
  }
  std::uint32_t const adler = adler32_of(sums, tile.size());
  for (std::uint32_t i = 0; i < kZlibTailBytes; ++i) {
    out[out.size() - kZlibTailBytes + i] = static_cast<std::byte>(adler >> (24 - 8 * i) & 0xFFU);
  }
  return out;
}

// `level` as deflate_encode_tiles() takes it.
inline std::vector<std::byte> deflate_in_pieces(std::vector<std::byte> const& tile, int level) {
  switch (deflate_lanes(level)) {
    case 1: return deflate_in_pieces<1>(tile);
    case 2: return deflate_in_pieces<2>(tile);
    default: return deflate_in_pieces<4>(tile);
  }
}

}  // namespace terrazzo::tile::test
