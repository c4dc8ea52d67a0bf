// SPDX-License-Identifier: Apache-2.0
//
// The bits of a Deflate stream, lowest first, on host and device.
#pragma once

#include "base/host_device.hpp"
#include "coding/team/stream_words.hpp"

#include <cstdint>

namespace terrazzo::coding {

// Reads from one position on. Bits after the end of the stream are 0: compare position() with StreamWords::bits().
class InflateReader {
 public:
  TERRAZZO_HOST_DEVICE InflateReader(StreamWords const& input, std::uint32_t at_bit) noexcept
      : input_(input), next_word_(input.place_of(at_bit) / 32) {
    std::uint32_t const before = input.place_of(at_bit) % 32;
    waiting_ = input.word(next_word_++) >> before;
    count_ = 32 - before;
  }

  // Makes at least 32 bits available to peek() and skip().
  TERRAZZO_HOST_DEVICE void fill() noexcept {
    if (count_ >= 32) { return; }
    waiting_ |= std::uint64_t{input_.word(next_word_++)} << count_;
    count_ += 32;
  }
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t peek() const noexcept {
    return static_cast<std::uint32_t>(waiting_);
  }
  TERRAZZO_HOST_DEVICE void skip(std::uint32_t bits) noexcept {
    waiting_ >>= bits;
    count_ -= bits;
  }
  // REQUIRES: bits < 32, and as many are available
  TERRAZZO_HOST_DEVICE std::uint32_t take(std::uint32_t bits) noexcept {
    std::uint32_t const value = peek() & ((1U << bits) - 1);
    skip(bits);
    return value;
  }

  // The next bit of the stream.
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t position() const noexcept {
    return input_.bit_at(next_word_ * 32 - count_);
  }

 private:
  StreamWords const& input_;
  std::uint64_t waiting_ = 0;
  std::uint32_t next_word_;
  std::uint32_t count_;  // bits of waiting_
};

}  // namespace terrazzo::coding
