// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/read.hpp"

#include "arrays.hpp"
#include "bindings.hpp"
#include "callbacks.hpp"
#include "requests.hpp"
#include "terrazzo/source.hpp"
#include "terrazzo/write.hpp"
#include "values.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <memory>
#include <tuple>

namespace terrazzo::python {

namespace {

constexpr Names<Trust, 3> kTrust{
    {{"automatic", Trust::automatic}, {"trusted", Trust::trusted}, {"untrusted", Trust::untrusted}}};
constexpr Names<DeviceFetch, 3> kFetches{
    {{"automatic", DeviceFetch::automatic}, {"ring", DeviceFetch::ring}, {"kvikio", DeviceFetch::kvikio}}};

// Results up to this size are decoded in the calling thread: they take milliseconds, and a thread that waits for Ctrl-C
// costs tens of microseconds.
constexpr std::uint64_t kQuickBytes = std::uint64_t{16} << 20;

// An upper estimate of the result, without a plan.
bool is_quick(Dataset const& dataset, ReadRequest const& request, std::uint64_t width, std::uint64_t height) {
  std::uint64_t const bands = request.bands.empty() ? dataset.info().bands.size() : request.bands.size();
  constexpr std::uint64_t kWidest = 16;
  return width * height < kQuickBytes / kWidest && width * height * bands * kWidest <= kQuickBytes;
}

bool is_quick(Dataset const& dataset, ReadRequest const& request) {
  if (request.window) { return is_quick(dataset, request, request.window->width, request.window->height); }
  return is_quick(dataset, request, dataset.info().width, dataset.info().height);
}

bool is_quick(std::vector<WindowOf> const& windows, ReadRequest const& request) {
  if (windows.empty()) { return true; }
  Window const& first = windows.front().window;
  return is_quick(windows.front().dataset, request, windows.size() * first.width, first.height);
}

// Runs a read of a dataset or of windows; `body` gets the request that can be cancelled.
template <class Source, class Body>
auto run_read(Source const& source, ReadRequest& request, Body&& body) {
  Work work(request);
  return is_quick(source, request) ? work.run(body) : work.run_interruptible(body);
}

using GridTuple =
    std::tuple<double, double, double, double, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;

void bind_requests(nb::module_& module) {
  auto options = nb::class_<OpenOptions>(module, "OpenOptions").def(nb::init<>());
  options.def_rw("page", &OpenOptions::page).def_rw("sidecars", &OpenOptions::sidecars);
  def_enum<&OpenOptions::trust>(options, "trust", kTrust);

  auto request = nb::class_<ReadRequest>(module, "ReadRequest").def(nb::init<>());
  request
      .def_prop_rw(
          "window", [](ReadRequest const& r) { return to_tuple(r.window); },
          [](ReadRequest& r, std::optional<WindowTuple> const& window) {
            r.window = window ? std::optional(window_from(*window)) : std::nullopt;
          },
          nb::for_setter(nb::arg("window").none()))
      .def_rw("bands", &ReadRequest::bands)
      .def_rw("level", &ReadRequest::level)
      .def_prop_rw(
          "target_size",
          [](ReadRequest const& r) {
            using Size = std::pair<std::uint32_t, std::uint32_t>;
            return r.target_size ? std::optional(Size(r.target_size->width, r.target_size->height)) : std::nullopt;
          },
          [](ReadRequest& r, std::pair<std::uint32_t, std::uint32_t> const& size) {
            r.target_size = TargetSize{size.first, size.second};
          })
      .def_prop_rw(
          "target_resolution",
          [](ReadRequest const& r) {
            auto const& size = r.target_resolution;
            return size ? std::optional(std::pair(size->x, size->y)) : std::nullopt;
          },
          [](ReadRequest& r, std::pair<double, double> const& size) {
            r.target_resolution = TargetResolution{size.first, size.second};
          })
      // A grid over the raster (TargetGrid): column, row, steps, and the first pixel and size of the part to read.
      .def_prop_rw(
          "target_grid",
          [](ReadRequest const& r) {
            auto const& g = r.target_grid;
            return g ? std::optional(GridTuple(g->column, g->row, g->column_step, g->row_step, g->first_column,
                                               g->first_row, g->width, g->height))
                     : std::nullopt;
          },
          [](ReadRequest& r, std::optional<GridTuple> const& grid) {
            r.target_grid.reset();
            if (!grid) { return; }
            auto const& [column, row, column_step, row_step, first_column, first_row, width, height] = *grid;
            r.target_grid = {column, row, column_step, row_step, first_column, first_row, width, height};
          },
          nb::for_setter(nb::arg("grid").none()))
      .def_prop_rw(
          "resampling", [](ReadRequest const& r) { return to_str(to_string(r.resampling)); },
          [](ReadRequest& r, std::string_view name) { r.resampling = resampling_from(name); })
      .def_rw("keep_extent", &ReadRequest::keep_extent)
      .def_rw("masked", &ReadRequest::masked)
      .def_rw("unpack", &ReadRequest::unpack)
      .def_prop_rw(
          "scale",
          [](ReadRequest const& r) {
            auto const& s = r.scale;
            return s ? std::optional(std::tuple(s->from_min, s->from_max, s->to_min, s->to_max)) : std::nullopt;
          },
          [](ReadRequest& r, std::tuple<double, double, double, double> const& s) {
            r.scale = LinearScale{std::get<0>(s), std::get<1>(s), std::get<2>(s), std::get<3>(s)};
          })
      .def("set_missing", [](ReadRequest& r, std::string_view text,
                             std::string_view dtype) { r.missing = make_nodata(text, dtype_from(dtype)); })
      .def_prop_rw(
          "dtype", [](ReadRequest const& r) { return to_str_or_none(r.dtype ? to_string(*r.dtype) : ""); },
          [](ReadRequest& r, std::optional<std::string_view> name) {
            r.dtype = name ? std::optional(dtype_from(*name)) : std::nullopt;
          },
          nb::for_setter(nb::arg("name").none()))
      .def_rw("strict", &ReadRequest::strict)
      .def_rw("threads", &ReadRequest::threads)
      .def_rw("memory_limit_bytes", &ReadRequest::memory_limit_bytes)
      .def_rw("exact", &ReadRequest::exact)
      .def_rw("device_budget_bytes", &ReadRequest::device_budget_bytes);
  def_enum<&ReadRequest::bad_tile>(request, "bad_tile", kBadTiles);
  def_enum<&ReadRequest::engine>(request, "engine", kEngines);
  def_enum<&ReadRequest::device_fetch>(request, "device_fetch", kFetches);
  def_progress(request);
}

void bind_report(nb::module_& module) {
  nb::class_<BadTileReport>(module, "BadTile")
      .def_prop_ro(
          "tile",
          [](BadTileReport const& bad) { return nb::make_tuple(bad.tile.column, bad.tile.row, bad.tile.plane); })
      .def_prop_ro("kind", [](BadTileReport const& bad) { return to_str(to_string(bad.kind)); })
      .def_prop_ro("message", [](BadTileReport const& bad) { return to_str(bad.message); })
      .def_prop_ro("source", [](BadTileReport const& bad) { return to_file_name(bad.source); });
  nb::class_<ReadReport>(module, "ReadReport")
      .def(nb::init<>())
      .def_ro("tiles", &ReadReport::tiles)
      .def_ro("sparse_tiles", &ReadReport::sparse_tiles)
      .def_ro("bytes_read", &ReadReport::bytes_read)
      .def_ro("surplus_tiles", &ReadReport::surplus_tiles)
      .def_ro("bad_tiles", &ReadReport::bad_tiles);
}

void bind_plan(nb::module_& module) {
  nb::class_<ReadPlan>(module, "ReadPlan")
      .def_prop_ro("level", &ReadPlan::level)
      .def_prop_ro("window", [](ReadPlan const& plan) { return to_tuple(plan.window()); })
      .def_prop_ro("width", &ReadPlan::width)
      .def_prop_ro("height", &ReadPlan::height)
      .def_prop_ro("bands", &ReadPlan::bands)
      .def_prop_ro("dtype", [](ReadPlan const& plan) { return to_str(to_string(python_dtype(plan.dtype()))); })
      .def_prop_ro("codec", &ReadPlan::codec)
      .def_prop_ro("tile_count", &ReadPlan::tile_count)
      .def_prop_ro("result_bytes", &ReadPlan::result_bytes)
      .def_prop_ro("scratch_bytes", &ReadPlan::scratch_bytes)
      .def_prop_ro("threads", &ReadPlan::threads);
  module.def("plan", [](Dataset const& dataset, ReadRequest const& request) {
    return Work().run([&] { return plan(dataset, request); });
  });
}

// A result in a type that numpy has.
void ask_for_python_dtype(Dataset const& dataset, ReadRequest& request) {
  if (!request.dtype) {
    DType const dtype = result_dtype(dataset, request);
    if (DType const known = python_dtype(dtype); known != dtype) { request.dtype = known; }
  }
}

}  // namespace

void bind_read(nb::module_& module) {
  bind_requests(module);
  bind_report(module);
  nb::class_<Dataset>(module, "Dataset")
      .def_prop_ro("info", &Dataset::info, nb::rv_policy::reference_internal)
      .def("detailed_info", [](Dataset const& dataset) { return Work().run([&] { return dataset.detailed_info(); }); });
  bind_plan(module);

  module.def("open", [](std::string const& path, OpenOptions const& options) {
    return Work().run([&] { return open(path, options); });
  });
  module.def("open_source", [](std::shared_ptr<ByteSource> const& source, OpenOptions const& options) {
    return Work().run([&] { return open(source, options); });
  });
  module.def("result_dtype", [](Dataset const& dataset, ReadRequest const& request) {
    return to_str(to_string(python_dtype(result_dtype(dataset, request))));
  });
  module.def(
      "read",
      [](Dataset const& dataset, ReadRequest request, ReadReport* report) {
        ask_for_python_dtype(dataset, request);
        return to_numpy(run_read(dataset, request, [&] { return read(dataset, request, report); }));
      },
      nb::arg("dataset"), nb::arg("request"), nb::arg("report").none() = nb::none());
  module.def(
      "read_into",
      [](Dataset const& dataset, ReadRequest request, AnyArray const& out, ReadReport* report) {
        HostView const view = host_view(out);
        run_read(dataset, request, [&] { read_into(dataset, request, view, report); });
      },
      nb::arg("dataset"), nb::arg("request"), nb::arg("out").noconvert(), nb::arg("report").none() = nb::none());
  module.def(
      "read_mask",
      [](Dataset const& dataset, ReadRequest request, ReadReport* report) {
        return to_numpy(run_read(dataset, request, [&] { return read_mask(dataset, request, report); }));
      },
      nb::arg("dataset"), nb::arg("request"), nb::arg("report").none() = nb::none());
  module.def(
      "read_windows",
      [](std::vector<WindowItem> const& items, ReadRequest request, ReadReport* report) {
        std::vector<WindowOf> const windows = windows_of(items);
        if (!windows.empty()) { ask_for_python_dtype(windows.front().dataset, request); }
        return to_numpy(run_read(windows, request, [&] { return read_windows(windows, request, report); }));
      },
      nb::arg("items"), nb::arg("request"), nb::arg("report").none() = nb::none());
  module.def(
      "read_windows_into",
      [](std::vector<WindowItem> const& items, ReadRequest request, AnyArray const& out, ReadReport* report) {
        std::vector<WindowOf> const windows = windows_of(items);
        HostBatchView const view = host_batch_view(out);
        run_read(windows, request, [&] { read_windows(windows, request, view, report); });
      },
      nb::arg("items"), nb::arg("request"), nb::arg("out").noconvert(), nb::arg("report").none() = nb::none());
}

}  // namespace terrazzo::python
