// SPDX-License-Identifier: Apache-2.0
//
// A tile's compressed bytes, read by many threads from any place, on host and device.
#pragma once

#include "base/host_device.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace terrazzo::coding {

// A stream as 32-bit words at 4-byte addresses. Bytes outside the stream are never read and count as 0.
class StreamWords {
 public:
  // Positions are bits in 32-bit numbers, with room for those that lie beyond the stream.
  static constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 28;

  // REQUIRES: bytes <= kMostBytes
  TERRAZZO_HOST_DEVICE StreamWords(std::byte const* in, std::uint64_t bytes) noexcept
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

}  // namespace terrazzo::coding
