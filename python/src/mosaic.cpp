// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/mosaic.hpp"

#include "bindings.hpp"
#include "callbacks.hpp"
#include "requests.hpp"
#include "values.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace terrazzo::python {

namespace {

constexpr Names<MosaicRule, 5> kRules{{{"first", MosaicRule::first},
                                       {"last", MosaicRule::last},
                                       {"min", MosaicRule::minimum},
                                       {"max", MosaicRule::maximum},
                                       {"mean", MosaicRule::mean}}};

using Box = std::tuple<double, double, double, double>;

void bind_request(nb::module_& module) {
  auto request = nb::class_<MosaicRequest>(module, "MosaicRequest").def(nb::init<>());
  request
      .def_prop_rw(
          "bounds",
          [](MosaicRequest const& r) {
            auto const& box = r.bounds;
            return box ? std::optional(Box(box->xmin, box->ymin, box->xmax, box->ymax)) : std::nullopt;
          },
          [](MosaicRequest& r, Box const& box) {
            r.bounds = BoundingBox{std::get<0>(box), std::get<1>(box), std::get<2>(box), std::get<3>(box)};
          })
      .def_prop_rw(
          "resolution",
          [](MosaicRequest const& r) {
            return r.resolution ? std::optional(std::pair(r.resolution->x, r.resolution->y)) : std::nullopt;
          },
          [](MosaicRequest& r, std::pair<double, double> const& size) {
            r.resolution = TargetResolution{size.first, size.second};
          })
      .def_rw("bands", &MosaicRequest::bands)
      .def_prop_rw(
          "dtype", [](MosaicRequest const& r) { return to_str_or_none(r.dtype ? to_string(*r.dtype) : ""); },
          [](MosaicRequest& r, std::string_view name) { r.dtype = dtype_from(name); })
      // A function of the name of an input that returns a Dataset, called from several threads.
      .def("set_open",
           [](MosaicRequest& r, nb::object open) {
             r.open = [function = SharedObject(std::move(open))](std::string const& name) {
               nb::gil_scoped_acquire const acquired;
               try {
                 return nb::cast<Dataset>(function.get()(to_file_name(name)));
               } catch (nb::python_error& error) { throw_from(error); }
             };
           })
      .def_rw("strict", &MosaicRequest::strict)
      .def_rw("threads", &MosaicRequest::threads)
      .def_rw("memory_limit_bytes", &MosaicRequest::memory_limit_bytes);
  def_enum<&MosaicRequest::rule>(request, "rule", kRules);
  def_enum<&MosaicRequest::bad_tile>(request, "bad_tile", kBadTiles);
}

}  // namespace

void bind_mosaic(nb::module_& module) {
  bind_request(module);
  nb::class_<MosaicPlan>(module, "MosaicPlan")
      .def_prop_ro("width", &MosaicPlan::width)
      .def_prop_ro("height", &MosaicPlan::height)
      .def_prop_ro("transform", &MosaicPlan::transform)
      .def_prop_ro("bands", &MosaicPlan::bands)
      .def_prop_ro("dtype", [](MosaicPlan const& plan) { return to_str(to_string(plan.dtype())); })
      .def_prop_ro("input_count", &MosaicPlan::input_count)
      .def_prop_ro("used_count", &MosaicPlan::used_count)
      .def_prop_ro("has_gaps", &MosaicPlan::has_gaps);
  nb::class_<MosaicReport>(module, "MosaicReport")
      .def_ro("read", &MosaicReport::read)
      .def_ro("write", &MosaicReport::write);
  module.def("mosaic_inputs", [](std::vector<std::string> const& inputs, std::string const& out) {
    return Work().run([&] { return mosaic_inputs(inputs, out); });
  });
  module.def("plan_mosaic", [](std::vector<std::string> const& inputs, MosaicRequest request) {
    Watch watch;
    Work work(watch);
    request.cancel = watch.cancel;
    return work.run_interruptible([&] { return plan_mosaic(inputs, request); });
  });
  module.def("mosaic_options", [](MosaicPlan const& plan) { return mosaic_options(plan); });
  module.def("mosaic", [](MosaicPlan const& plan, Target const& target, WriteOptions options) {
    Work work(options);
    return work.run_interruptible(
        [&] { return with_target(target, [&](auto const& place) { return mosaic(plan, place, options); }); });
  });
}

}  // namespace terrazzo::python
