// SPDX-License-Identifier: Apache-2.0
//
// The matches of a piece as the device's encoders find and take them, on one thread of the host.
#pragma once

#include "coding/deflate/code.hpp"
#include "coding/deflate/pieces.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace terrazzo::coding::test {

// The threads of a block, one after the other.
struct ThreadsInTurn {
  template <class Step>
  void each(Step const& step) const {
    for (std::uint32_t thread = 0; thread < kDeflateThreads; ++thread) { step(thread); }
  }
};

class MatchesTwin {
 public:
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
  }

  template <std::uint32_t kLanes, std::uint32_t kShortest>
  void find() {
    using Table = DeflateTable<kLanes>;
    auto const insert = [&](std::uint32_t i) { Table::insert(slots_, Table::bucket_of(window_.word_at(i)), i); };
    for (std::uint32_t i = window_.oldest; i < kDeflateHistoryBytes; ++i) { insert(i); }
    for (std::uint32_t step = kDeflateHistoryBytes; step < window_.end; step += Table::kStep) {
      std::uint32_t const end = std::min(step + Table::kStep, window_.end);
      for (std::uint32_t i = step; i < end; ++i) {
        std::uint32_t best = 0;
        for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
          best = std::max(best, DeflateLane<kLanes, kShortest>(window_, i, lane).best(slots_));
        }
        tokens_[i - kDeflateHistoryBytes] = best;
      }
      for (std::uint32_t i = step; i < end; ++i) { insert(i); }
    }
  }

  // Tokens of all segments; count(token) for each that is not covered. Matches are at most `longest`.
  template <class Count>
  void parse(std::uint32_t longest, Count const& count) {
    for (std::uint32_t begin = 0; begin < bytes_; begin += kDeflateSegmentBytes) {
      std::uint32_t const end = std::min(begin + kDeflateSegmentBytes, bytes_);
      for (std::uint32_t at = begin; at < end;) {
        DeflateMatchKey const match(tokens_[at]);
        DeflateMatchKey const next(at + 1 < end ? tokens_[at + 1] : 0);
        std::uint32_t const position = kDeflateHistoryBytes + at;
        std::uint32_t length = length_to_take(match, next, end - at);
        if (length == kDeflateLookBytes) {
          length = window_.common_length(position, match.distance(), length, std::min(end - at, longest));
        }
        DeflateToken const token = length == 0 ? DeflateToken::literal(window_.byte_at(position))
                                               : DeflateToken::match(length, match.distance());
        count(token);
        tokens_[at++] = token.word;
        for (std::uint32_t i = 1; i < length; ++i) { tokens_[at++] = DeflateToken::kCovered; }
      }
    }
  }

  [[nodiscard]] std::uint32_t bytes() const { return bytes_; }
  [[nodiscard]] DeflateWindow const& window() const { return window_; }
  [[nodiscard]] std::uint32_t* tokens() { return tokens_; }

 private:
  std::uint32_t words_[kDeflateWindowWords];
  std::uint32_t slots_[kDeflateSlots];
  std::uint32_t tokens_[kDeflatePieceBytes];
  DeflateWindow window_{};
  std::uint32_t bytes_ = 0;
};

}  // namespace terrazzo::coding::test
