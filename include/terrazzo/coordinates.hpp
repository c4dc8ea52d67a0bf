// SPDX-License-Identifier: Apache-2.0
//
// Positions in a raster: pixels, coordinates in its CRS, and coordinates in other CRSs.
//
//   terrazzo::Dataset const dem = terrazzo::open("dem.tif");
//   auto const area = terrazzo::bbox_in(dem.detailed_info(), {9.001, 37.941, 9.006, 37.945}, "EPSG:4326");
//   auto const heights = terrazzo::read<std::int16_t>(dem, {.window = terrazzo::window_of(dem.info(), area)});
//
// Transforms are affine and may be rotated or sheared. They map the outer corners of pixels, also in files whose raster
// type is "point" (Georeference::transform). A raster without an invertible transform (no georeference, or only ground
// control points) is a `usage` error. Functions that take a CRS need PROJ (8.2 or newer) and its database; without them
// they throw `unsupported`. All functions are thread-safe.
#pragma once

#include "terrazzo/info.hpp"
#include "terrazzo/read.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace terrazzo {

// ---------------------------------------------------------------------------------------------------------------
// Values

// A position in a CRS: x is the easting or longitude, y the northing or latitude, for any axis order of the CRS.
struct Point {
  double x = 0, y = 0;
  friend bool operator==(Point const&, Point const&) = default;
};

// A position in a raster. (0, 0) is the outer corner of the first pixel, and (0.5, 0.5) is its centre.
struct Pixel {
  double column = 0, row = 0;
  friend bool operator==(Pixel const&, Pixel const&) = default;
};

struct BoundingBox {
  double xmin = 0, ymin = 0, xmax = 0, ymax = 0;
  friend bool operator==(BoundingBox const&, BoundingBox const&) = default;
};

// True unless xmin < xmax and ymin < ymax. A box with NaN is empty.
[[nodiscard]] bool is_empty(BoundingBox const& box) noexcept;
// The common part; the default (empty) box if there is none.
[[nodiscard]] BoundingBox intersection(BoundingBox const& a, BoundingBox const& b) noexcept;
// The smallest box that contains both; an empty box adds nothing.
[[nodiscard]] BoundingBox united(BoundingBox const& a, BoundingBox const& b) noexcept;
// Edges included. An empty box contains nothing and is contained in nothing.
[[nodiscard]] bool contains(BoundingBox const& outer, BoundingBox const& inner) noexcept;
[[nodiscard]] bool contains(BoundingBox const& box, Point const& point) noexcept;
// Every edge moved outwards by `margin`, or inwards if it is negative.
[[nodiscard]] BoundingBox expanded(BoundingBox const& box, double margin) noexcept;

// True if the window has no pixels.
[[nodiscard]] bool is_empty(Window const& window) noexcept;
// The common pixels; the default (empty) window if there are none.
[[nodiscard]] Window intersection(Window const& a, Window const& b) noexcept;
// The smallest window that contains both; an empty window adds nothing. A result of more than 4294967295 columns or
// rows is cut there.
[[nodiscard]] Window united(Window const& a, Window const& b) noexcept;
// An empty window contains nothing and is contained in nothing.
[[nodiscard]] bool contains(Window const& outer, Window const& inner) noexcept;

// ---------------------------------------------------------------------------------------------------------------
// Pixels and the raster's CRS

// Outer corners of the raster by pixel position, with gdalinfo's names: `upper_left` is that of the first pixel, also
// in a raster whose rows run from south to north.
struct Corners {
  Point upper_left{}, lower_left{}, upper_right{}, lower_right{};
};

[[nodiscard]] Corners corners(Info const& info);
[[nodiscard]] Point center(Info const& info);
// Lengths of the sides of a pixel, in units of the CRS, also in a rotated raster: x along a row, y along a column.
[[nodiscard]] TargetResolution pixel_size(Info const& info);
// The smallest box that contains the raster. The raster fills it unless it is rotated.
[[nodiscard]] BoundingBox bounds(Info const& info);

// Positions outside the raster are valid. Results for NaN and infinity are not finite.
[[nodiscard]] Point to_world(Info const& info, Pixel const& pixel);
[[nodiscard]] Pixel to_pixel(Info const& info, Point const& point);
[[nodiscard]] std::vector<Point> to_world(Info const& info, std::span<Pixel const> pixels);
[[nodiscard]] std::vector<Pixel> to_pixel(Info const& info, std::span<Point const> points);

// The window, clipped to the raster, of all pixels whose area intersects `box`, in pixels of `level` (0: full
// resolution, as in ReadRequest). Edges that lie within 1e-6 pixels of a pixel edge are taken as that edge. In a
// rotated raster the window covers the box. `usage` errors: a box that is empty or not finite, a box outside the
// raster.
[[nodiscard]] Window window_of(Info const& info, BoundingBox const& box, std::uint32_t level = 0);
// False if window_of() clips the window of `box`. `usage` error: a box that is empty or not finite.
[[nodiscard]] bool covers(Info const& info, BoundingBox const& box);

// The transform of a raster made of this window, in GDAL's order (Georeference::transform).
[[nodiscard]] std::array<double, 6> transform_of(Info const& info, Window const& window, std::uint32_t level = 0);

// ---------------------------------------------------------------------------------------------------------------
// Other CRSs
//
// `crs` is a text that PROJ understands: "EPSG:4326", "OGC:CRS84", WKT, PROJJSON, the exact name of a CRS of EPSG, or a
// PROJ string without +init.
// `info` is best Dataset::detailed_info(), because a CRS that is stored as parameters is known only there. Vertical
// parts of a CRS are ignored. `usage` errors: a raster without a CRS, a text that PROJ does not understand, two CRSs
// without a transformation between them.
//
// Boxes are transformed by 21 points on each edge, and poles inside a box are found, as in GDAL and rasterio. Points of
// the edges that cannot be transformed are left out; if all fail, it is a `usage` error. A box of longitudes that
// crosses the antimeridian has xmin > xmax, as in GeoJSON, in arguments and results. window_of() refuses such a box;
// split it at the antimeridian.

// True if both rasters have the same horizontal CRS, or none of them has a CRS. PROJ compares definitions that differ
// in their codes or texts; without PROJ they count as different. Axis order does not count.
[[nodiscard]] bool same_crs(Info const& a, Info const& b);

// `box` is in `crs`; the result is in the raster's CRS.
[[nodiscard]] BoundingBox bbox_in(Info const& info, BoundingBox const& box, std::string const& crs);
// `box` is in the raster's CRS; the result is in `crs`.
[[nodiscard]] BoundingBox bbox_to(Info const& info, BoundingBox const& box, std::string const& crs);

// The same for points. Points that cannot be transformed become infinite.
[[nodiscard]] std::vector<Point> points_in(Info const& info, std::span<Point const> points, std::string const& crs);
[[nodiscard]] std::vector<Point> points_to(Info const& info, std::span<Point const> points, std::string const& crs);

}  // namespace terrazzo
#pragma GCC visibility pop
