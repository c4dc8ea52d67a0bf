// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/convert.hpp"

#include "bindings.hpp"
#include "callbacks.hpp"
#include "requests.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace terrazzo::python {

namespace {

void bind_web_tiles(nb::module_& module) {
  nb::class_<WebTileOptions>(module, "WebTileOptions")
      .def(nb::init<>())
      .def_rw("zoom_level", &WebTileOptions::zoom_level)
      .def_rw("aligned_levels", &WebTileOptions::aligned_levels)
      .def_rw("tile_size", &WebTileOptions::tile_size)
      .def_prop_rw(
          "resampling",
          [](WebTileOptions const& o) { return to_str_or_none(o.resampling ? to_string(*o.resampling) : ""); },
          [](WebTileOptions& o, std::string_view name) { o.resampling = resampling_from(name); });
  module.def("align_to_web_tiles", [](Dataset const& source, ConvertSetup& setup, WebTileOptions const& options) {
    Work().run([&] { align_to_web_tiles(source, setup, options); });
  });
}

using Jobs = std::vector<std::pair<std::string, std::string>>;

std::vector<ConvertJob> jobs_from(Jobs const& pairs) {
  std::vector<ConvertJob> jobs;
  for (auto const& [source, out] : pairs) { jobs.push_back({source, out}); }
  return jobs;
}

// `set_up` makes a ConvertSetup of a Dataset and is called from several threads.
std::vector<ConvertOutcome> run_many(Jobs const& pairs, nb::object set_up, unsigned jobs, unsigned threads,
                                     bool overwrite, std::string options_text, nb::object const& progress) {
  Watch watch{.progress = progress_from(progress)};
  Work work(watch);
  ConvertManyOptions options{.jobs = jobs, .threads = threads, .overwrite = overwrite};
  options.options_text = std::move(options_text);
  options.cancel = watch.cancel;
  options.setup = [function = SharedObject(std::move(set_up))](Dataset const& dataset) {
    nb::gil_scoped_acquire const acquired;
    try {
      return nb::cast<ConvertSetup>(function.get()(dataset));
    } catch (nb::python_error& error) { throw_from(error); }
  };
  if (watch.progress) {
    options.progress = [&](ConvertProgress const& state) {
      return watch.progress(state.bytes_done, state.bytes_total);
    };
  }
  std::vector<ConvertOutcome> outcomes =
      work.run_interruptible([&] { return convert_many(jobs_from(pairs), options); });
  if (auto const* const function = watch.progress.target<PythonProgress>()) { function->rethrow(); }
  return outcomes;
}

void bind_many(nb::module_& module) {
  nb::class_<ConvertOutcome>(module, "ConvertOutcome")
      .def_prop_ro("state", [](ConvertOutcome const& outcome) { return to_str(to_string(outcome.state)); })
      .def_ro("report", &ConvertOutcome::report)
      .def_prop_ro("error",
                   [](ConvertOutcome const& outcome) {
                     return outcome.error ? make_exception(*outcome.error) : nb::object(nb::none());
                   })
      .def_ro("seconds", &ConvertOutcome::seconds);
  module.def("conversion_jobs", [](std::vector<std::string> const& inputs, std::string const& out_folder) {
    Jobs pairs;
    for (ConvertJob& job : Work().run([&] { return conversion_jobs(inputs, out_folder); })) {
      pairs.emplace_back(std::move(job.source), std::move(job.out));
    }
    return pairs;
  });
  module.def("convert_many", run_many, nb::arg("jobs"), nb::arg("set_up"), nb::arg("files_at_once"), nb::arg("threads"),
             nb::arg("overwrite"), nb::arg("options_text"), nb::arg("progress").none());
}

}  // namespace

void bind_convert(nb::module_& module) {
  nb::class_<ConvertReport>(module, "ConvertReport")
      .def_ro("read", &ConvertReport::read)
      .def_ro("write", &ConvertReport::write);
  nb::class_<ConvertSetup>(module, "ConvertSetup")
      .def(nb::init<>())
      .def_rw("write", &ConvertSetup::write)
      .def_rw("read", &ConvertSetup::read);
  module.def("conversion_options", [](Dataset const& source, ReadRequest const& read) {
    return Work().run([&] { return conversion_options(source, read); });
  });
  module.def("make_alpha_the_mask",
             [](Dataset const& source, ConvertSetup& setup) { make_alpha_the_mask(source, setup.read, setup.write); });
  module.def("convert", [](Dataset const& source, Target const& target, ConvertSetup setup) {
    Work work(setup.write);
    return work.run_interruptible(
        [&] { return with_target(target, [&](auto const& place) { return convert(source, place, setup); }); });
  });
  bind_web_tiles(module);
  bind_many(module);
}

}  // namespace terrazzo::python
