// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/codecs.hpp"

#include "bindings.hpp"
#include "text.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace terrazzo::python {

void bind_codecs(nb::module_& module) {
  nb::class_<CodecInfo>(module, "CodecInfo")
      .def_ro("compression", &CodecInfo::compression)
      .def_ro("name", &CodecInfo::name)
      .def_ro("library", &CodecInfo::library)
      .def_ro("available", &CodecInfo::available)
      .def_ro("trusted_only", &CodecInfo::trusted_only);
  module.def("codecs", [] { return codecs(); });
  module.def("compressions", [] {
    nb::list names;
    for (Compression const compression : compressions()) { names.append(to_str(to_string(compression))); }
    return names;
  });
}

}  // namespace terrazzo::python
