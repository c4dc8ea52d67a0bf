// SPDX-License-Identifier: Apache-2.0
//
// The bits of a Deflate stream, lowest first, read by many threads from any place, on host and device.
#pragma once

#include "base/host_device.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace terrazzo::coding {

// A stream as 32-bit words at 4-byte addresses. Bytes outside the stream are never read and count as 0.
class InflateInput {
 public:
  // Positions are bits in 32-bit numbers, with room for those that lie beyond the stream.
  static constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 28;

  // REQUIRES: bytes <= kMostBytes
  TERRAZZO_HOST_DEVICE InflateInput(std::byte const* in, std::uint64_t bytes) noexcept
      : in_(in),
        bytes_(static_cast<std::uint32_t>(bytes)),
        skew_(static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(in) & 3)),
        whole_begin_(skew_ == 0 ? 0 : 1),
        whole_end_((bytes_ + skew_) / 4) {}

  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t bits() const noexcept { return bytes_ * 8; }
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::byte const* bytes() const noexcept { return in_; }

  // The word that contains a bit, and the bit's place in it, counted from the first word.
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t place_of(std::uint32_t bit) const noexcept {
    return bit + skew_ * 8;
  }
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t bit_at(std::uint32_t place) const noexcept {
    return place - skew_ * 8;
  }

  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t word(std::uint32_t index) const noexcept {
    std::uint32_t value = 0;
    std::int64_t const at = std::int64_t{index} * 4 - skew_;
    if (index >= whole_begin_ && index < whole_end_) {
      std::memcpy(&value, __builtin_assume_aligned(in_ + at, 4), 4);
      return value;
    }
    for (std::uint32_t i = 0; i < 4; ++i) {
      if (at + i >= 0 && at + i < bytes_) { value |= static_cast<std::uint32_t>(in_[at + i]) << (8 * i); }
    }
    return value;
  }

 private:
  std::byte const* in_;
  std::uint32_t bytes_;
  std::uint32_t skew_;  // bytes of the first word before the stream
  std::uint32_t whole_begin_, whole_end_;  // the words that are completely in the stream
};

// Reads from one position on. Bits after the end of the stream are 0: compare position() with InflateInput::bits().
class InflateReader {
 public:
  TERRAZZO_HOST_DEVICE InflateReader(InflateInput const& input, std::uint32_t at_bit) noexcept
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
  InflateInput const& input_;
  std::uint64_t waiting_ = 0;
  std::uint32_t next_word_;
  std::uint32_t count_;  // bits of waiting_
};

}  // namespace terrazzo::coding
