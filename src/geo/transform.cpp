// SPDX-License-Identifier: Apache-2.0
#include "geo/transform.hpp"

#include "base/letter_case.hpp"
#include "geo/number.hpp"
#include "tiff/format.hpp"

#include <algorithm>
#include <cstdint>

namespace terrazzo::geo {
namespace {

constexpr std::uint64_t kValuesPerTiepoint = 6;  // column, row, level, x, y, z
constexpr std::uint64_t kMatrixValues = 16;

// From the centre of the first pixel to its corner.
void centre_to_corner(Transform& t) {
  t[0] -= t[1] * 0.5 + t[2] * 0.5;
  t[3] -= t[4] * 0.5 + t[5] * 0.5;
}

}  // namespace

std::optional<TagTransform> transform_from_tags(tiff::Directory const& dir, bool pixel_is_point) {
  auto const scale = dir.real_values(tiff::tag::ModelPixelScale, 3);
  if (scale.size() >= 2 && scale[0] != 0 && scale[1] != 0) {
    auto const tie = dir.real_values(tiff::tag::ModelTiepoint, kValuesPerTiepoint);
    if (tie.size() < kValuesPerTiepoint) { return std::nullopt; }
    double const row_step = scale[1] < 0 ? scale[1] : -scale[1];
    Transform t{tie[3] - tie[0] * scale[0], scale[0], 0, tie[4] - tie[1] * row_step, 0, row_step};
    if (pixel_is_point) { centre_to_corner(t); }
    return TagTransform{t, TransformSource::pixel_scale};
  }
  auto const matrix = dir.real_values(tiff::tag::ModelTransformation, kMatrixValues + 1);
  if (matrix.size() != kMatrixValues) { return std::nullopt; }
  Transform t{matrix[3], matrix[0], matrix[1], matrix[7], matrix[4], matrix[5]};
  if (pixel_is_point) { centre_to_corner(t); }
  return TagTransform{t, TransformSource::matrix};
}

std::vector<GroundControlPoint> gcps_from_tags(tiff::Directory const& dir, bool pixel_is_point) {
  auto const values = dir.real_values(tiff::tag::ModelTiepoint, kMaxTiepoints * kValuesPerTiepoint);
  double const shift = pixel_is_point ? 0.5 : 0.0;
  std::vector<GroundControlPoint> gcps;
  gcps.reserve(values.size() / kValuesPerTiepoint);
  for (std::size_t i = 0; i + kValuesPerTiepoint <= values.size(); i += kValuesPerTiepoint) {
    gcps.push_back({.id = std::to_string(gcps.size() + 1),
                    .column = values[i] + shift,
                    .row = values[i + 1] + shift,
                    .x = values[i + 3],
                    .y = values[i + 4],
                    .z = values[i + 5]});
  }
  return gcps;
}

std::optional<Transform> transform_from_world_file(std::string_view text) {
  std::array<double, 6> values{};
  std::size_t count = 0;
  while (count < values.size() && !text.empty()) {
    auto const end = std::min(text.find_first_of("\r\n"), text.size());
    std::string_view const line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.find_first_not_of(" \t") == std::string_view::npos) { continue; }
    values[count] = number_with_any_point(line);
    ++count;
  }
  if (count < values.size()) { return std::nullopt; }
  bool const has_x = values[0] != 0 || values[2] != 0;
  bool const has_y = values[3] != 0 || values[1] != 0;
  if (!has_x || !has_y) { return std::nullopt; }
  Transform t{values[4], values[0], values[2], values[5], values[1], values[3]};
  // Subtract one half after the other, as GDAL does: the sum of both halves may round differently.
  t[0] -= 0.5 * t[1];
  t[0] -= 0.5 * t[2];
  t[3] -= 0.5 * t[4];
  t[3] -= 0.5 * t[5];
  return t;
}

std::vector<std::string> world_file_names(std::string_view file_name) {
  auto const slash = file_name.find_last_of('/');
  auto const dot = file_name.find_last_of('.');
  bool const has_extension = dot != std::string_view::npos && (slash == std::string_view::npos || dot > slash);
  std::string const stem(has_extension ? file_name.substr(0, dot + 1) : std::string(file_name) + ".");
  std::string const extension = has_extension ? lower_case(file_name.substr(dot + 1)) : std::string();

  std::vector<std::string> endings;
  if (extension.size() >= 2) {
    endings.push_back({extension.front(), extension.back(), 'w'});
    endings.push_back(extension + 'w');
  }
  endings.emplace_back("wld");

  std::vector<std::string> names;
  for (auto const& ending : endings) {
    std::string upper = ending;
    std::transform(upper.begin(), upper.end(), upper.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
    names.push_back(stem + ending);
    names.push_back(stem + upper);
  }
  return names;
}

}  // namespace terrazzo::geo
