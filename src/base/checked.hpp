// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic on numbers from a file. Overflow gives nullopt and never wraps.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

namespace terrazzo {

template <std::unsigned_integral T>
[[nodiscard]] constexpr std::optional<T> checked_add(T a, T b) noexcept {
  T sum{};
  if (__builtin_add_overflow(a, b, &sum)) { return std::nullopt; }
  return sum;
}

template <std::unsigned_integral T>
[[nodiscard]] constexpr std::optional<T> checked_mul(T a, T b) noexcept {
  T product{};
  if (__builtin_mul_overflow(a, b, &product)) { return std::nullopt; }
  return product;
}

// a * b * ..., or nullopt.
template <class... Rest>
[[nodiscard]] constexpr std::optional<std::uint64_t> checked_product(std::uint64_t first, Rest... rest) noexcept {
  std::optional<std::uint64_t> product = first;
  ((product = product ? checked_mul<std::uint64_t>(*product, static_cast<std::uint64_t>(rest)) : std::nullopt), ...);
  return product;
}

// Ceiling division that cannot overflow. REQUIRES: divisor != 0.
template <std::unsigned_integral T>
[[nodiscard]] constexpr T ceil_div(T value, T divisor) noexcept {
  return static_cast<T>(value / divisor + (value % divisor != 0 ? 1 : 0));
}

// The smallest multiple of `unit` that is at least `value`. Wraps on overflow: callers check it. REQUIRES: unit != 0.
template <std::unsigned_integral T>
[[nodiscard]] constexpr T round_up(T value, std::type_identity_t<T> unit) noexcept {
  return static_cast<T>(ceil_div<T>(value, unit) * unit);
}

// True when [offset, offset + length) lies inside [0, size).
[[nodiscard]] constexpr bool range_fits(std::uint64_t offset, std::uint64_t length, std::uint64_t size) noexcept {
  return offset <= size && length <= size - offset;
}

}  // namespace terrazzo
