// SPDX-License-Identifier: Apache-2.0
//
// One step from a level to an overview of it: sizes, pixels, method. Both engines make their overviews from this.
#pragma once

#include "terrazzo/dtype.hpp"
#include "terrazzo/error.hpp"
#include "terrazzo/info.hpp"
#include "terrazzo/write.hpp"

#include <cstdint>
#include <optional>

namespace terrazzo::tile {

struct ReductionSpec {
  std::uint32_t source_width = 0, source_height = 0;
  std::uint32_t width = 0, height = 0;  // of the result
  DType dtype = DType::u8;
  std::uint32_t bands = 1;
  Resampling method = Resampling::average;
  std::optional<Nodata> nodata{};  // of all bands; where there is one, NaN is missing too
  bool mask = false;  // a mask of the source comes along: 0 is invalid. It wins over nodata
  std::optional<std::uint32_t> alpha_band{};  // from 0: it is reduced over its own pixels that are visible
  bool alpha_masks_others = true;  // its zeros are invalid in all bands, where neither mask nor nodata says

  [[nodiscard]] bool alpha_is_mask() const noexcept { return alpha_band && alpha_masks_others && !mask && !nodata; }
};

[[nodiscard]] constexpr bool is_kernel(Resampling method) noexcept {
  return method == Resampling::bilinear || method == Resampling::cubic || method == Resampling::lanczos;
}

// Throws `usage` for what no engine makes.
inline void check_reduction(ReductionSpec const& spec) {
  if (spec.width == 0 || spec.height == 0 || spec.width > spec.source_width || spec.height > spec.source_height) {
    throw Error(ErrorKind::usage, "an overview has at least one pixel and no more than the level it is made from");
  }
  bool const takes_complex =
      spec.method == Resampling::nearest || spec.method == Resampling::average || spec.method == Resampling::rms;
  if (is_complex(spec.dtype) && !takes_complex) {
    throw Error(ErrorKind::usage, "overviews of complex pixels are made by nearest, average or rms");
  }
}

}  // namespace terrazzo::tile
