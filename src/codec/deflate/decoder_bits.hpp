// SPDX-License-Identifier: Apache-2.0
//
// Bit streams of Deflate (RFC 1951, 3.1.1): from the lowest bit of the first byte on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace terrazzo::codec {

// Reads any number of bits at any position, with every bound checked: for headers and the ends of streams. For
// little-endian processors only.
class ForwardBits {
 public:
  static constexpr std::uint32_t kMostBits = 57;  // per peek: the first of eight bytes may provide only one bit

  ForwardBits() = default;
  explicit ForwardBits(std::span<std::byte const> bytes, std::uint64_t at_bit = 0) noexcept
      : bytes_(bytes), at_bit_(at_bit) {}

  [[nodiscard]] std::uint64_t at_bit() const noexcept { return at_bit_; }
  // True if more bits were taken than the stream has: the last ones are invalid.
  [[nodiscard]] bool is_past_end() const noexcept { return at_bit_ > 8 * std::uint64_t{bytes_.size()}; }

  // The next bits, at least kMostBits; zeros past the end.
  [[nodiscard]] std::uint64_t peek() const noexcept {
    std::uint64_t const at = std::min<std::uint64_t>(at_bit_ / 8, bytes_.size());
    std::uint64_t word = 0;
    // An empty span may have a null address, which memcpy() does not accept.
    if (at < bytes_.size()) {
      std::memcpy(&word, bytes_.data() + at, std::min<std::size_t>(sizeof word, bytes_.size() - at));
    }
    return word >> (at_bit_ % 8);
  }
  void skip(std::uint64_t count) noexcept { at_bit_ += count; }
  std::uint32_t take(std::uint32_t count) noexcept {
    auto const value = static_cast<std::uint32_t>(peek() & ((std::uint64_t{1} << count) - 1));
    skip(count);
    return value;
  }
  void skip_to_byte() noexcept { at_bit_ = (at_bit_ + 7) / 8 * 8; }

 private:
  std::span<std::byte const> bytes_;
  std::uint64_t at_bit_ = 0;
};

}  // namespace terrazzo::codec
