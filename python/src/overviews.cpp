// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/overviews.hpp"

#include "bindings.hpp"
#include "callbacks.hpp"
#include "requests.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

namespace terrazzo::python {

namespace {

constexpr Names<OverviewPlace, 2> kPlaces{
    {{"internal", OverviewPlace::internal}, {"external", OverviewPlace::external}}};

}  // namespace

void bind_overviews(nb::module_& module) {
  auto bound = nb::class_<OverviewOptions>(module, "OverviewOptions").def(nb::init<>());
  bound.def_rw("factors", &OverviewOptions::factors)
      .def_prop_rw(
          "resampling",
          [](OverviewOptions const& o) { return to_str_or_none(o.resampling ? to_string(*o.resampling) : ""); },
          [](OverviewOptions& o, std::string_view name) { o.resampling = resampling_from(name); })
      .def_rw("keep", &OverviewOptions::keep)
      // The compression of the overviews; without it they have the raster's.
      .def("set_compression",
           [](OverviewOptions& o, std::string const& name, std::optional<int> level) {
             std::optional<Compression> const compression = parse_compression(name);
             if (!compression) { throw Error(ErrorKind::usage, "'" + name + "' is not a compression"); }
             o.adjust = [compression, level](WriteOptions& write) {
               write.compression = *compression;
               write.level = level;
             };
           })
      .def_rw("threads", &OverviewOptions::threads);
  def_enum<&OverviewOptions::place>(bound, "place", kPlaces);
  def_enum<&OverviewOptions::bad_tile>(bound, "bad_tile", kBadTiles);
  def_progress(bound);
  nb::class_<OverviewReport>(module, "OverviewReport")
      .def_prop_ro("file", [](OverviewReport const& report) { return to_file_name(report.file); })
      .def_ro("overviews", &OverviewReport::overviews)
      .def_ro("read", &OverviewReport::read)
      .def_ro("write", &OverviewReport::write)
      .def_ro("no_longer_cog", &OverviewReport::no_longer_cog)
      .def_ro("hides_sidecar", &OverviewReport::hides_sidecar);
  module.def("add_overviews", [](std::string const& path, OverviewOptions options) {
    return Work(options).run_interruptible([&] { return add_overviews(path, options); });
  });
}

}  // namespace terrazzo::python
