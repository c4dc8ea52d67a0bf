// SPDX-License-Identifier: Apache-2.0
//
// The nodata value of a reduction as a pixel of type T.
#pragma once

#include "tile/reduce_pixel.hpp"
#include "tile/reduction_spec.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

namespace terrazzo::tile {

// nullopt if no pixel can have it.
template <class T>
[[nodiscard]] std::optional<T> marker_of(ReductionSpec const& spec) noexcept {
  if (!spec.nodata || !spec.nodata->representable) { return std::nullopt; }
  if constexpr (std::is_same_v<T, std::int64_t>) {
    if (spec.nodata->exact_i64) { return spec.nodata->exact_i64; }
  } else if constexpr (std::is_same_v<T, std::uint64_t>) {
    if (spec.nodata->exact_u64) { return spec.nodata->exact_u64; }
  }
  return convert_value<T>(spec.nodata->value);
}

// The marker in a trivially copyable form, and the largest value of a sample.
template <class T>
struct Marker {
  bool present = false;
  T value{};  // zero if there is none: the value of a pixel without valid sources
  Avoided<T> avoided{};
  double largest = std::numeric_limits<double>::infinity();  // if less than the type's
};

template <class T>
[[nodiscard]] Marker<T> make_marker(ReductionSpec const& spec) noexcept {
  std::optional<T> const marker = marker_of<T>(spec);
  Marker<T> made = marker ? Marker<T>{true, *marker, avoid_marker(*marker)} : Marker<T>{};
  if constexpr (std::is_unsigned_v<T>) {
    if (spec.bits != 0 && spec.bits < 8 * sizeof(T)) {
      made.largest = static_cast<double>((std::uint64_t{1} << spec.bits) - 1);
    }
  }
  return made;
}

}  // namespace terrazzo::tile
