// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/boundless.hpp"

#include "arrays.hpp"
#include "bindings.hpp"
#include "callbacks.hpp"

#include <nanobind/stl/tuple.h>

#include <cstdint>
#include <tuple>

namespace terrazzo::python {

namespace {

using Box = std::tuple<double, double, double, double>;
using GridTuple = std::tuple<std::int64_t, std::int64_t, std::uint32_t, std::uint32_t>;

}  // namespace

void bind_boundless(nb::module_& module) {
  module.def("grid_window_of", [](Info const& info, Box const& box, std::uint32_t level) {
    auto const [xmin, ymin, xmax, ymax] = box;
    GridWindow const window = grid_window_of(info, {xmin, ymin, xmax, ymax}, level);
    return nb::make_tuple(window.column, window.row, window.width, window.height);
  });
  module.def(
      "read_boundless",
      [](Dataset const& dataset, GridTuple const& grid, ReadRequest request, ReadReport* report) {
        if (!request.dtype) { request.dtype = python_dtype(result_dtype(dataset, request)); }
        auto const [column, row, width, height] = grid;
        GridWindow const window{column, row, width, height};
        return to_numpy(
            Work(request).run_interruptible([&] { return read_boundless(dataset, window, request, report); }));
      },
      nb::arg("dataset"), nb::arg("window"), nb::arg("request"), nb::arg("report").none() = nb::none());
}

}  // namespace terrazzo::python
