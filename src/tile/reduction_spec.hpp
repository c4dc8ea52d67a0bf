// SPDX-License-Identifier: Apache-2.0
//
// One step from a level to its overview, or from a part of a level to a resampled result: sizes, pixels, method.
#pragma once

#include "terrazzo/dtype.hpp"
#include "terrazzo/error.hpp"
#include "terrazzo/info.hpp"
#include "terrazzo/resampling.hpp"
#include "tile/reduce_pixel.hpp"

#include <cstdint>
#include <optional>

namespace terrazzo::tile {

struct ReductionSpec {
  std::uint32_t source_width = 0, source_height = 0;
  std::uint32_t width = 0, height = 0;  // size of the result
  DType dtype = DType::u8;
  std::uint32_t bands = 1;
  Resampling method = Resampling::average;
  std::optional<Nodata> nodata{};  // nodata of all bands; if set, NaN is missing too
  bool mask = false;  // the source has a mask: 0 is invalid. It has priority over nodata
  bool mask_has_weights = false;  // kernels weight a pixel by the mask's value, as GDAL does with alpha
  std::optional<std::uint32_t> alpha_band{};  // from 0: reduced over its own visible pixels
  bool alpha_masks_others = true;  // its zeros are invalid in all bands, unless there is a mask or nodata
  // The part of the source that the result shows; default: all of it. Only the host takes another part.
  std::optional<AxisMap> columns{}, rows{};
  std::uint32_t bits = 0;  // of unsigned samples that use fewer than their type has: kernels stay within them

  [[nodiscard]] AxisMap column_map() const noexcept {
    return columns.value_or(AxisMap{static_cast<double>(source_width) / width});
  }
  [[nodiscard]] AxisMap row_map() const noexcept {
    return rows.value_or(AxisMap{static_cast<double>(source_height) / height});
  }
  [[nodiscard]] bool alpha_is_mask() const noexcept { return alpha_band && alpha_masks_others && !mask && !nodata; }
};

[[nodiscard]] constexpr bool is_kernel(Resampling method) noexcept {
  return method == Resampling::bilinear || method == Resampling::cubic || method == Resampling::cubic_spline ||
         method == Resampling::lanczos;
}

[[nodiscard]] constexpr bool has_negative_weights(Resampling method) noexcept {
  return method == Resampling::cubic || method == Resampling::lanczos;
}

// Throws `usage` for a reduction that no engine supports.
inline void check_reduction(ReductionSpec const& spec) {
  bool const is_larger =
      !spec.columns && !spec.rows && (spec.width > spec.source_width || spec.height > spec.source_height);
  if (spec.width == 0 || spec.height == 0 || is_larger) {
    throw Error(ErrorKind::usage, "an overview has at least one pixel and no more than the level it is made from");
  }
  bool const takes_complex =
      spec.method == Resampling::nearest || spec.method == Resampling::average || spec.method == Resampling::rms;
  if (is_complex(spec.dtype) && !takes_complex) {
    throw Error(ErrorKind::usage, "overviews of complex pixels are made by nearest, average or rms");
  }
}

}  // namespace terrazzo::tile
