// SPDX-License-Identifier: Apache-2.0
//
// Compares nodata values of one sample type.
#pragma once

#include "terrazzo/info.hpp"

#include <cmath>

namespace terrazzo::ops {

[[nodiscard]] inline bool same_nodata(Nodata const& a, Nodata const& b) noexcept {
  bool const both_nan = std::isnan(a.value) && std::isnan(b.value);
  return (both_nan || a.value == b.value) && a.exact_i64 == b.exact_i64 && a.exact_u64 == b.exact_u64;
}

}  // namespace terrazzo::ops
