// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/convert.hpp"

#include "bindings.hpp"
#include "callbacks.hpp"
#include "target.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>

namespace terrazzo::python {

void bind_convert(nb::module_& module) {
  nb::class_<ConvertReport>(module, "ConvertReport")
      .def_ro("read", &ConvertReport::read)
      .def_ro("write", &ConvertReport::write);
  module.def("conversion_options", [](Dataset const& source, ReadRequest const& read) {
    return Work().run([&] { return conversion_options(source, read); });
  });
  module.def("make_alpha_the_mask", [](Dataset const& source, ReadRequest& read, WriteOptions& options) {
    make_alpha_the_mask(source, read, options);
  });
  module.def("convert", [](Dataset const& source, Target const& target, WriteOptions options, ReadRequest const& read) {
    Work work(options);
    return work.run_interruptible(
        [&] { return with_target(target, [&](auto const& place) { return convert(source, place, options, read); }); });
  });
}

}  // namespace terrazzo::python
