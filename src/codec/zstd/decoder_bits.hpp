// SPDX-License-Identifier: Apache-2.0
//
// Bit streams of ZSTD (RFC 8878, 4.1): read from their last byte to their first; the highest set bit of the last byte
// is a mark for the end, not data.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace terrazzo::codec {

// Reads with every bound checked: for short streams and the ends of long ones.
class BackwardBits {
 public:
  BackwardBits() = default;
  // `left` bits from the beginning of `bytes` on are not read yet. REQUIRES: they exist.
  BackwardBits(std::span<std::byte const> bytes, std::int64_t left) noexcept : bytes_(bytes), left_(left) {}

  // Opens a whole stream; returns false if its end is invalid.
  [[nodiscard]] bool open(std::span<std::byte const> bytes) noexcept {
    if (bytes.empty() || bytes.back() == std::byte{0}) { return false; }
    bytes_ = bytes;
    auto const marked = static_cast<std::uint32_t>(std::bit_width(std::to_integer<std::uint32_t>(bytes.back())));
    left_ = static_cast<std::int64_t>(8 * (bytes.size() - 1) + marked - 1);
    return true;
  }

  // Remaining bits; negative if more were taken than there are.
  [[nodiscard]] std::int64_t left() const noexcept { return left_; }

  // The next `count` bits, at most 32; zeros past the end.
  [[nodiscard]] std::uint32_t peek(std::uint32_t count) const noexcept {
    std::uint64_t value = 0;
    std::int64_t const from = left_ - count;
    for (std::int64_t at = from < 0 ? 0 : from / 8; at * 8 < left_; ++at) {
      auto const byte = std::to_integer<std::uint64_t>(bytes_[static_cast<std::size_t>(at)]);
      std::int64_t const shift = at * 8 - from;
      value |= shift >= 0 ? byte << shift : byte >> -shift;
    }
    return static_cast<std::uint32_t>(value & ((std::uint64_t{1} << count) - 1));
  }
  void skip(std::uint32_t count) noexcept { left_ -= count; }
  std::uint32_t take(std::uint32_t count) noexcept {
    std::uint32_t const value = peek(count);
    skip(count);
    return value;
  }

 private:
  std::span<std::byte const> bytes_;
  std::int64_t left_ = 0;
};

}  // namespace terrazzo::codec
