// SPDX-License-Identifier: Apache-2.0
//
// How pixels of one grid become pixels of another: resampled reads (ReadRequest) and overviews (WriteOptions).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#pragma GCC visibility push(default)
namespace terrazzo {

// All methods but nearest ignore missing pixels: nodata, masked and transparent ones. docs/formats.md has the rules.
enum class Resampling : std::uint8_t {
  nearest,  // the pixel under the centre
  average,  // mean of the covered pixels, weighted by their covered part
  bilinear,
  cubic,  // Catmull-Rom
  cubic_spline,  // B-spline: smooths
  lanczos,  // of three lobes
  mode,  // the most frequent of the covered pixels
  minimum,
  maximum,
  median,
  rms  // root of the mean of the squares
};
// "cubic-spline", "min", ...
[[nodiscard]] std::string_view to_string(Resampling method) noexcept;
// Takes the names of to_string() and GDAL's names, in any case.
[[nodiscard]] std::optional<Resampling> parse_resampling(std::string_view name) noexcept;

}  // namespace terrazzo
#pragma GCC visibility pop
