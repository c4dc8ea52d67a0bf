// SPDX-License-Identifier: Apache-2.0
//
// Sums and products of work and memory that saturate: a value beyond 64 bits is "too much" in any case.
#pragma once

#include "base/checked.hpp"

#include <cstdint>
#include <limits>

namespace terrazzo {

// a * b * ..., or the largest number.
template <class... Rest>
[[nodiscard]] constexpr std::uint64_t saturating_product(std::uint64_t first, Rest... rest) noexcept {
  return checked_product(first, rest...).value_or(std::numeric_limits<std::uint64_t>::max());
}

[[nodiscard]] constexpr std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) noexcept {
  return checked_add(a, b).value_or(std::numeric_limits<std::uint64_t>::max());
}

}  // namespace terrazzo
