// SPDX-License-Identifier: Apache-2.0
#include "base/affine.hpp"
#include "base/text.hpp"
#include "geo/crs/encode_crs.hpp"
#include "geo/encode.hpp"
#include "geo/metadata/rpc.hpp"
#include "geo/transform.hpp"
#include "terrazzo/error.hpp"
#include "tiff/format.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

namespace terrazzo::geo {
namespace {

constexpr int kPixelIsArea = 1, kPixelIsPoint = 2;
constexpr std::size_t kMaxTiepointsWritten = 65535 / 6;  // GDAL counts the values of the tag in 16 bits

// The number from which the reader, subtracting `half`, gets exactly `corner`: rounding can make the nearest sum one
// step too large or too small.
double centre_of(double corner, double half) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double const centre = corner + half;
  for (double const candidate : {centre, std::nextafter(centre, kInfinity), std::nextafter(centre, -kInfinity)}) {
    if (candidate - half == corner) { return candidate; }
  }
  return centre;
}

void encode_transform(Transform const& t, bool pixel_is_point, tiff::TagSet& tags) {
  if (!is_invertible(t)) {
    throw Error(ErrorKind::usage,
                text("the transform ", t[0], ",", t[1], ",", t[2], ",", t[3], ",", t[4], ",", t[5],
                     " is not finite, or puts all pixels on one line: give x,dx,0,y,0,dy with dx and dy other than 0"));
  }
  double x = t[0], y = t[3];
  if (pixel_is_point) {
    x = centre_of(x, t[1] * 0.5 + t[2] * 0.5);
    y = centre_of(y, t[4] * 0.5 + t[5] * 0.5);
  }
  bool const north_up = t[2] == 0 && t[4] == 0 && t[1] != 0 && t[5] < 0;
  if (north_up) {
    tags.set_doubles(tiff::tag::ModelPixelScale, std::array{t[1], -t[5], 0.0});
    tags.set_doubles(tiff::tag::ModelTiepoint, std::array{0.0, 0.0, 0.0, x, y, 0.0});
  } else {
    tags.set_doubles(tiff::tag::ModelTransformation,
                     std::array{t[1], t[2], 0.0, x, t[4], t[5], 0.0, y, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0});
  }
}

void encode_gcps(std::vector<GroundControlPoint> const& gcps, bool pixel_is_point, tiff::TagSet& tags) {
  if (gcps.size() > kMaxTiepointsWritten) {
    throw Error(ErrorKind::limit, "a file holds at most 10922 ground control points");
  }
  double const shift = pixel_is_point ? 0.5 : 0.0;
  std::vector<double> values;
  for (auto const& gcp : gcps) {
    for (double const value : {gcp.column - shift, gcp.row - shift, 0.0, gcp.x, gcp.y, gcp.z}) {
      values.push_back(value);
    }
  }
  tags.set_doubles(tiff::tag::ModelTiepoint, values);
}

}  // namespace

std::string encode_georeference(Georeference const& georeference, tiff::TagSet& tags) {
  if (georeference.transform) {
    encode_transform(*georeference.transform, georeference.pixel_is_point, tags);
  } else if (!georeference.gcps.empty()) {
    encode_gcps(georeference.gcps, georeference.pixel_is_point, tags);
  }
  GeoKeys keys;
  keys.set_revision_1_0(true);
  std::string unsaid;
  if (georeference.crs) { unsaid = encode_crs(*georeference.crs, keys); }
  if (georeference.pixel_is_point) {
    keys.set_code(key::GTRasterType, kPixelIsPoint);
  } else if (georeference.crs) {
    keys.set_code(key::GTRasterType, kPixelIsArea);
  }
  keys.write(tags);
  if (!georeference.rpc.empty() && !rpc_to_tags(georeference.rpc, tags)) {
    throw Error(ErrorKind::usage, "the rational polynomial coefficients (RPC) are incomplete");
  }
  return unsaid;
}

}  // namespace terrazzo::geo
