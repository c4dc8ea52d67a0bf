// SPDX-License-Identifier: Apache-2.0
//
// Bytes with an order: bounds-checked reads of the integers and floats of a TIFF file.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>

namespace terrazzo {

template <class T>
[[nodiscard]] constexpr T byte_swapped(T value) noexcept {
  static_assert(std::is_unsigned_v<T>);
  if constexpr (sizeof(T) == 1) {
    return value;
  } else if constexpr (sizeof(T) == 2) {
    return __builtin_bswap16(value);
  } else if constexpr (sizeof(T) == 4) {
    return __builtin_bswap32(value);
  } else {
    return __builtin_bswap64(value);
  }
}

// Reads an unsigned integer, unaligned. REQUIRES: sizeof(T) readable bytes at `from`.
template <class T>
[[nodiscard]] inline T load(std::byte const* from, std::endian order) noexcept {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return order == std::endian::native ? value : byte_swapped(value);
}

class ByteView {
 public:
  ByteView() = default;
  ByteView(std::span<std::byte const> bytes, std::endian order) noexcept : bytes_(bytes), order_(order) {}

  [[nodiscard]] std::size_t size() const noexcept { return bytes_.size(); }
  [[nodiscard]] std::span<std::byte const> bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::endian order() const noexcept { return order_; }

  // The unsigned integer at `offset_bytes`, or nullopt past the end.
  template <class T>
  [[nodiscard]] std::optional<T> get(std::size_t offset_bytes) const noexcept {
    if (offset_bytes > bytes_.size() || bytes_.size() - offset_bytes < sizeof(T)) { return std::nullopt; }
    return load<T>(bytes_.data() + offset_bytes, order_);
  }

  // The part [offset, offset + length), cut at the end.
  [[nodiscard]] ByteView sub(std::size_t offset, std::size_t length) const noexcept {
    if (offset >= bytes_.size()) { return ByteView({}, order_); }
    return ByteView(bytes_.subspan(offset, std::min(length, bytes_.size() - offset)), order_);
  }

 private:
  std::span<std::byte const> bytes_;
  std::endian order_ = std::endian::little;
};

}  // namespace terrazzo
