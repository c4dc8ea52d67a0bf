// SPDX-License-Identifier: Apache-2.0
//
// Points as numpy arrays of [count, 2] doubles.
#pragma once

#include "bindings.hpp"
#include "terrazzo/coordinates.hpp"

#include <nanobind/ndarray.h>

#include <array>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace terrazzo::python {

using PointArray = nb::ndarray<double const, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;

[[nodiscard]] inline std::span<Point const> as_points(PointArray const& points) {
  static_assert(sizeof(Point) == 2 * sizeof(double));
  return {reinterpret_cast<Point const*>(points.data()), points.shape(0)};
}

// Of Points or Pixels. The array owns the vector.
template <class Pair>
[[nodiscard]] nb::ndarray<nb::numpy, double> points_to_numpy(std::vector<Pair>&& points) {
  static_assert(sizeof(Pair) == 2 * sizeof(double));
  auto* const kept = new std::vector<Pair>(std::move(points));
  nb::capsule const owner(kept, [](void* memory) noexcept { delete static_cast<std::vector<Pair>*>(memory); });
  std::array<std::size_t, 2> const shape{kept->size(), 2};
  return nb::ndarray<nb::numpy, double>(reinterpret_cast<double*>(kept->data()), 2, shape.data(), owner);
}

}  // namespace terrazzo::python
