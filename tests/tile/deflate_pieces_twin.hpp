// SPDX-License-Identifier: Apache-2.0
//
// The device's Deflate encoder on one thread of the host: the same pieces, the same steps, the same bytes.
#pragma once

#include "tile/adler32.hpp"
#include "tile/deflate_pieces.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

namespace terrazzo::tile::test {

// The threads of a block, one after the other.
struct ThreadsInTurn {
  template <class Step>
  void each(Step const& step) const {
    for (std::uint32_t thread = 0; thread < kDeflateThreads; ++thread) { step(thread); }
  }
};

class DeflatePieceTwin {
 public:
  // Fills `words`; returns the bits, or kDeflateStored.
  template <std::uint32_t kLanes>
  std::uint32_t encode(std::vector<std::byte> const& tile, std::uint64_t piece, std::uint32_t* words) {
    load(tile, piece);
    find<kLanes>();
    for (std::uint32_t begin = 0; begin < bytes_; begin += kDeflateSegmentBytes) {
      parse(begin, std::min(begin + kDeflateSegmentBytes, bytes_));
    }
    ThreadsInTurn threads;
    make_block_codes(threads, work_, codes_);
    std::uint32_t const bits = codes_.header_bits + codes_.body_bits;
    if (bits > deflate_piece_most_bits(bytes_)) { return kDeflateStored; }
    bool const last = (piece + 1) * kDeflatePieceBytes >= tile.size();
    std::fill_n(words, deflate_words(bits), 0U);
    threads.each([&](std::uint32_t thread) { put_block_header(work_, codes_, last, thread, words); });
    DeflateBits out(words, codes_.header_bits);
    for (std::uint32_t i = 0; i < bytes_; ++i) { token_bits(codes_, DeflateToken{tokens_[i]}).put(out); }
    out.put(codes_.literals.codes[kDeflateEndOfBlock] & 0xFFFFU, codes_.literals.lengths[kDeflateEndOfBlock]);
    out.finish();
    return bits;
  }

  [[nodiscard]] DeflateCodes const& codes() const { return codes_; }

 private:
  void load(std::vector<std::byte> const& tile, std::uint64_t piece) {
    std::uint64_t const begin = piece * kDeflatePieceBytes;
    bytes_ = deflate_piece_bytes(tile.size(), piece);
    std::uint32_t const history = piece != 0 ? kDeflateHistoryBytes : 0;
    // What nobody wrote must not matter, but for the zeros behind the piece.
    std::fill(std::begin(words_), std::end(words_), 0xEEEEEEEEU);
    auto* const window = reinterpret_cast<std::byte*>(words_);
    std::memset(window + kDeflateHistoryBytes + bytes_, 0, kDeflateWindowTail - 16);
    std::memcpy(window + kDeflateHistoryBytes - history, tile.data() + begin - history, history + bytes_);
    window_ = {words_, kDeflateHistoryBytes - history, kDeflateHistoryBytes + bytes_};
    std::fill(std::begin(slots_), std::end(slots_), 0U);
    codes_ = {};
    codes_.literals.counts[kDeflateEndOfBlock] = 1;
  }

  template <std::uint32_t kLanes>
  void find() {
    using Table = DeflateTable<kLanes>;
    auto const insert = [&](std::uint32_t i) { Table::insert(slots_, Table::bucket_of(window_.word_at(i)), i); };
    for (std::uint32_t i = window_.oldest; i < kDeflateHistoryBytes; ++i) { insert(i); }
    for (std::uint32_t step = kDeflateHistoryBytes; step < window_.end; step += Table::kStep) {
      std::uint32_t const end = std::min(step + Table::kStep, window_.end);
      for (std::uint32_t i = step; i < end; ++i) {
        std::uint32_t best = 0;
        for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
          best = std::max(best, DeflateLane<kLanes>(window_, i, lane).best(slots_));
        }
        tokens_[i - kDeflateHistoryBytes] = best;
      }
      for (std::uint32_t i = step; i < end; ++i) { insert(i); }
    }
  }

  void parse(std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t at = begin; at < end;) {
      DeflateMatchKey const match(tokens_[at]);
      DeflateMatchKey const next(at + 1 < end ? tokens_[at + 1] : 0);
      std::uint32_t const position = kDeflateHistoryBytes + at;
      std::uint32_t length = length_to_take(match, next, end - at);
      if (length == kDeflateLookBytes) {
        length = window_.common_length(position, match.distance(), length, std::min(end - at, kDeflateLongestMatch));
      }
      DeflateToken const token = length == 0 ? DeflateToken::literal(window_.byte_at(position))
                                             : DeflateToken::match(length, match.distance());
      count_token(codes_, token);
      tokens_[at++] = token.word;
      for (std::uint32_t i = 1; i < length; ++i) { tokens_[at++] = DeflateToken::kCovered; }
    }
  }

  std::uint32_t words_[kDeflateWindowWords];
  std::uint32_t slots_[kDeflateSlots];
  std::uint32_t tokens_[kDeflatePieceBytes];
  DeflateCodeWork work_;
  DeflateCodes codes_;
  DeflateWindow window_{};
  std::uint32_t bytes_ = 0;
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
