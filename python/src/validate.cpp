// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/validate.hpp"

#include "bindings.hpp"
#include "callbacks.hpp"
#include "requests.hpp"
#include "terrazzo/source.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <tuple>
#include <vector>

namespace terrazzo::python {

void bind_validate(nb::module_& module) {
  auto bound = nb::class_<ValidateOptions>(module, "ValidateOptions").def(nb::init<>());
  bound.def_rw("open", &ValidateOptions::open)
      .def_rw("decode", &ValidateOptions::decode)
      .def_rw("max_findings", &ValidateOptions::max_findings)
      .def_rw("threads", &ValidateOptions::threads)
      .def_rw("memory_limit_bytes", &ValidateOptions::memory_limit_bytes);
  def_progress(bound);
  nb::class_<Finding>(module, "Finding")
      .def_prop_ro("severity", [](Finding const& finding) { return to_str(to_string(finding.severity)); })
      .def_ro("rule", &Finding::rule)
      .def_prop_ro("message", [](Finding const& finding) { return to_str(finding.message); })
      .def_ro("ifd", &Finding::ifd)
      .def_prop_ro("tile",
                   [](Finding const& finding) {
                     auto const& tile = finding.tile;
                     return tile ? std::optional(std::tuple(tile->column, tile->row, tile->plane)) : std::nullopt;
                   })
      .def_ro("offset", &Finding::offset)
      .def_ro("known_to_gdal", &Finding::known_to_gdal)
      .def("__repr__", [](Finding const& finding) {
        return "Finding(" + std::string(to_string(finding.severity)) + ", " + finding.rule + ": " + finding.message +
               ")";
      });
  nb::class_<Validation>(module, "Validation")
      .def_ro("valid_tiff", &Validation::valid_tiff)
      .def_ro("valid_cog", &Validation::valid_cog)
      .def_ro("findings", &Validation::findings)
      .def_ro("findings_left_out", &Validation::findings_left_out)
      .def_ro("tiles", &Validation::tiles)
      .def_ro("sparse_tiles", &Validation::sparse_tiles)
      .def_ro("header_bytes", &Validation::header_bytes)
      .def_ro("slack_bytes", &Validation::slack_bytes);
  module.def("validate", [](std::string const& path, ValidateOptions options) {
    return Work(options).run_interruptible([&] { return validate(path, options); });
  });
  module.def("validate_source", [](std::shared_ptr<ByteSource> const& source, ValidateOptions options) {
    return Work(options).run_interruptible([&] { return validate(source, options); });
  });
  nb::class_<ValidationRule>(module, "ValidationRule")
      .def_prop_ro("name", [](ValidationRule const& rule) { return to_str(rule.name); })
      .def_prop_ro("severity", [](ValidationRule const& rule) { return to_str(to_string(rule.severity)); })
      .def_ro("known_to_gdal", &ValidationRule::known_to_gdal)
      .def_prop_ro("meaning", [](ValidationRule const& rule) { return to_str(rule.meaning); });
  module.def("validation_rules", [] {
    auto const rules = validation_rules();
    return std::vector<ValidationRule>(rules.begin(), rules.end());
  });
}

}  // namespace terrazzo::python
