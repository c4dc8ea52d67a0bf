// SPDX-License-Identifier: Apache-2.0
//
// The position of the pixels: the affine transform or the ground control points in the tags of a file.
#pragma once

#include "terrazzo/info.hpp"
#include "tiff/directory.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace terrazzo::geo {

using Transform = std::array<double, 6>;  // GDAL's order, for pixel corners: see Georeference::transform

struct TagTransform {
  Transform transform{};
  TransformSource source = TransformSource::none;
};

// Uses ModelPixelScale with ModelTiepoint, otherwise ModelTransformation. Coordinates of PixelIsPoint files refer to
// pixel centres, so the transform is moved by half a pixel. A negative ScaleY is treated as positive (north up), as in
// GDAL: such files come from writers that misread the specification.
[[nodiscard]] std::optional<TagTransform> transform_from_tags(tiff::Directory const& dir, bool pixel_is_point);

// Every ModelTiepoint as a ground control point. For files without a transform.
inline constexpr std::size_t kMaxTiepoints = 100'000;
[[nodiscard]] std::vector<GroundControlPoint> gcps_from_tags(tiff::Directory const& dir, bool pixel_is_point);

// A world file: six lines, with scale and rotation, and the centre of the first pixel.
[[nodiscard]] std::optional<Transform> transform_from_world_file(std::string_view text);

// The possible names of the world file of `file_name`, best first: dem.tfw, dem.TFW, dem.tifw, dem.wld, ...
[[nodiscard]] std::vector<std::string> world_file_names(std::string_view file_name);

}  // namespace terrazzo::geo
