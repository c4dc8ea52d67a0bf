// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/stats.hpp"

#include "bindings.hpp"
#include "callbacks.hpp"
#include "requests.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace terrazzo::python {

namespace {

constexpr Names<PreviewStyle, 5> kStyles{{{"automatic", PreviewStyle::automatic},
                                          {"gray", PreviewStyle::gray},
                                          {"colormap", PreviewStyle::colormap},
                                          {"hillshade", PreviewStyle::hillshade},
                                          {"rgb", PreviewStyle::rgb}}};

}  // namespace

void bind_stats(nb::module_& module) {
  nb::class_<StatsRequest>(module, "StatsRequest")
      .def(nb::init<>())
      .def_rw("read", &StatsRequest::read)
      .def_rw("histogram_bins", &StatsRequest::histogram_bins)
      .def_rw("histogram_min", &StatsRequest::histogram_min)
      .def_rw("histogram_max", &StatsRequest::histogram_max);
  nb::class_<BandStats>(module, "BandStats")
      .def_ro("band", &BandStats::band)
      .def_ro("valid", &BandStats::valid)
      .def_ro("total", &BandStats::total)
      .def_ro("minimum", &BandStats::minimum)
      .def_ro("maximum", &BandStats::maximum)
      .def_ro("mean", &BandStats::mean)
      .def_ro("stddev", &BandStats::stddev)
      .def_ro("histogram_min", &BandStats::histogram_min)
      .def_ro("histogram_max", &BandStats::histogram_max)
      .def_ro("histogram", &BandStats::histogram)
      .def("__repr__", [](BandStats const& s) {
        return "BandStats(band=" + std::to_string(s.band) + ", valid=" + std::to_string(s.valid) +
               ", minimum=" + std::to_string(s.minimum) + ", maximum=" + std::to_string(s.maximum) +
               ", mean=" + std::to_string(s.mean) + ", stddev=" + std::to_string(s.stddev) + ")";
      });
  module.def("compute_stats", [](Dataset const& dataset, StatsRequest request) {
    Work work(request.read);
    return work.run_interruptible([&] { return compute_stats(dataset, request); });
  });

  auto preview = nb::class_<PreviewRequest>(module, "PreviewRequest").def(nb::init<>());
  preview.def_rw("max_size", &PreviewRequest::max_size)
      .def_rw("bands", &PreviewRequest::bands)
      .def_rw("colormap", &PreviewRequest::colormap)
      .def_rw("stretch_low", &PreviewRequest::stretch_low)
      .def_rw("stretch_high", &PreviewRequest::stretch_high)
      .def_rw("range_min", &PreviewRequest::range_min)
      .def_rw("range_max", &PreviewRequest::range_max)
      .def_rw("gamma", &PreviewRequest::gamma)
      .def_prop_rw(
          "window", [](PreviewRequest const& p) { return to_tuple(p.window); },
          [](PreviewRequest& p, WindowTuple const& window) { p.window = window_from(window); })
      .def_rw("threads", &PreviewRequest::threads);
  def_enum<&PreviewRequest::style>(preview, "style", kStyles);
  def_progress(preview);
  module.def("colormap_names", [] { return colormap_names(); });
  // The bytes of a PNG.
  module.def("make_preview", [](Dataset const& dataset, PreviewRequest request) {
    std::vector<std::uint8_t> const png =
        Work(request).run_interruptible([&] { return encode_png(make_preview(dataset, request)); });
    return nb::bytes(png.data(), png.size());
  });
}

}  // namespace terrazzo::python
