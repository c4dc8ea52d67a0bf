// SPDX-License-Identifier: Apache-2.0
//
// Points are arrays of [count, 2] doubles: x and y, or column and row.
#include "terrazzo/coordinates.hpp"

#include "bindings.hpp"
#include "callbacks.hpp"
#include "points.hpp"
#include "requests.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace terrazzo::python {

namespace {

using Box = std::tuple<double, double, double, double>;

BoundingBox box_from(Box const& box) {
  auto const [xmin, ymin, xmax, ymax] = box;
  return {xmin, ymin, xmax, ymax};
}

nb::tuple to_tuple(BoundingBox const& box) { return nb::make_tuple(box.xmin, box.ymin, box.xmax, box.ymax); }

nb::tuple to_tuple(Point const& point) { return nb::make_tuple(point.x, point.y); }

std::span<Pixel const> as_pixels(PointArray const& points) {
  static_assert(sizeof(Pixel) == 2 * sizeof(double));
  return {reinterpret_cast<Pixel const*>(points.data()), points.shape(0)};
}

}  // namespace

void bind_coordinates(nb::module_& module) {
  module.def("bounds", [](Info const& info) { return to_tuple(bounds(info)); });
  module.def("corners", [](Info const& info) {
    Corners const c = corners(info);
    return nb::make_tuple(to_tuple(c.upper_left), to_tuple(c.lower_left), to_tuple(c.upper_right),
                          to_tuple(c.lower_right));
  });
  module.def("center", [](Info const& info) { return to_tuple(center(info)); });
  module.def("pixel_size", [](Info const& info) {
    TargetResolution const size = pixel_size(info);
    return nb::make_tuple(size.x, size.y);
  });
  module.def("same_crs", [](Info const& a, Info const& b) { return Work().run([&] { return same_crs(a, b); }); });
  module.def("window_of", [](Info const& info, Box const& box, std::uint32_t level) {
    return to_tuple(window_of(info, box_from(box), level));
  });
  module.def("transform_of", [](Info const& info, WindowTuple const& window, std::uint32_t level) {
    return transform_of(info, window_from(window), level);
  });
  module.def("to_world", [](Info const& info, PointArray const& pixels) {
    return points_to_numpy(to_world(info, as_pixels(pixels)));
  });
  module.def("to_pixel", [](Info const& info, PointArray const& points) {
    return points_to_numpy(to_pixel(info, as_points(points)));
  });
  module.def("bbox_in", [](Info const& info, Box const& box, std::string const& crs) {
    return to_tuple(Work().run([&] { return bbox_in(info, box_from(box), crs); }));
  });
  module.def("bbox_to", [](Info const& info, Box const& box, std::string const& crs) {
    return to_tuple(Work().run([&] { return bbox_to(info, box_from(box), crs); }));
  });
  module.def("points_in", [](Info const& info, PointArray const& points, std::string const& crs) {
    return points_to_numpy(Work().run([&] { return points_in(info, as_points(points), crs); }));
  });
  module.def("points_to", [](Info const& info, PointArray const& points, std::string const& crs) {
    return points_to_numpy(Work().run([&] { return points_to(info, as_points(points), crs); }));
  });
}

}  // namespace terrazzo::python
