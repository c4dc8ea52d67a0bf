// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/sample.hpp"

#include "arrays.hpp"
#include "bindings.hpp"
#include "callbacks.hpp"
#include "points.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace terrazzo::python {

namespace {

// [bands, points] of uint8: the values of SampleState.
nb::ndarray<nb::numpy, std::uint8_t> states_to_numpy(std::vector<SampleState>&& states, std::size_t bands,
                                                     std::size_t points) {
  auto* const kept = new std::vector<SampleState>(std::move(states));
  nb::capsule const owner(kept, [](void* memory) noexcept { delete static_cast<std::vector<SampleState>*>(memory); });
  std::array<std::size_t, 2> const shape{bands, points};
  return nb::ndarray<nb::numpy, std::uint8_t>(reinterpret_cast<std::uint8_t*>(kept->data()), 2, shape.data(), owner);
}

}  // namespace

void bind_sample(nb::module_& module) {
  // (values, states): arrays of [bands, 1, points] and [bands, points].
  module.def(
      "sample",
      [](Dataset const& dataset, PointArray const& points, ReadRequest request) {
        if (!request.dtype) { request.dtype = python_dtype(result_dtype(dataset, request)); }
        SampleResult result =
            Work(request).run_interruptible([&] { return sample(dataset, as_points(points), request); });
        std::size_t const bands = result.values.bands(), count = result.values.width();
        auto states = states_to_numpy(std::move(result.states), bands, count);
        return std::pair(to_numpy(std::move(result.values)), std::move(states));
      },
      nb::arg("dataset"), nb::arg("points"), nb::arg("request"));
}

}  // namespace terrazzo::python
