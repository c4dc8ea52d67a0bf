// SPDX-License-Identifier: Apache-2.0
//
// The nodata value of a reduction as a pixel of type T.
#pragma once

#include "tile/reduce_pixel.hpp"
#include "tile/reduction_spec.hpp"

#include <cstdint>
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

// The marker in a trivially copyable form.
template <class T>
struct Marker {
  bool present = false;
  T value{};  // zero if there is none: the value of a pixel without valid sources
  Avoided<T> avoided{};
};

template <class T>
[[nodiscard]] Marker<T> make_marker(ReductionSpec const& spec) noexcept {
  std::optional<T> const marker = marker_of<T>(spec);
  return marker ? Marker<T>{true, *marker, avoid_marker(*marker)} : Marker<T>{};
}

}  // namespace terrazzo::tile
