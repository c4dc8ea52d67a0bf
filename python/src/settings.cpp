// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/settings.hpp"

#include "bindings.hpp"
#include "callbacks.hpp"
#include "text.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace terrazzo::python {

void bind_settings(nb::module_& module) {
  nb::class_<Settings>(module, "Settings")
      .def_rw("threads", &Settings::threads)
      .def_rw("memory_limit_bytes", &Settings::memory_limit_bytes)
      .def_rw("tile_cache_bytes", &Settings::tile_cache_bytes)
      .def_rw("device_budget_bytes", &Settings::device_budget_bytes)
      .def_rw("device_guard_s", &Settings::device_guard_s);
  nb::class_<Machine>(module, "Machine")
      .def_ro("cores", &Machine::cores)
      .def_ro("memory_bytes", &Machine::memory_bytes);
  module.def("machine", [] { return machine(); });
  module.def("settings", [] { return settings(); });
  module.def("set_settings", [](Settings const& values) { set_settings(values); });
  module.def("set_vendor_folders", [](std::vector<std::string> folders) { set_vendor_folders(std::move(folders)); });
  // `log` gets a text; its exceptions go to sys.unraisablehook, because notes come from any thread.
  module.def("set_log", [](nb::object log) {
    set_log([function = SharedObject(std::move(log))](std::string_view message) {
      if (!Py_IsInitialized()) { return; }
      nb::gil_scoped_acquire const acquired;
      try {
        function.get()(to_str(message));
      } catch (nb::python_error& error) { error.discard_as_unraisable("terrazzo's log"); }
    });
  });
}

}  // namespace terrazzo::python
