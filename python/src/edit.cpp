// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/edit.hpp"

#include "bindings.hpp"
#include "callbacks.hpp"
#include "requests.hpp"
#include "values.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace terrazzo::python {

namespace {

// Adds `set`, a dict of items.
template <class Class>
void def_items(Class& bound) {
  using Edit = typename Class::Type;
  bound.def_prop_rw(
      "set", [](Edit const& edit) { return items_dict(edit.set); },
      [](Edit& edit, nb::dict const& items) { edit.set = items_from(items); });
  bound.def_rw("unset", &Edit::unset);
}

}  // namespace

void bind_edit(nb::module_& module) {
  auto band = nb::class_<BandEdit>(module, "BandEdit").def(nb::init<>());
  band.def_rw("band", &BandEdit::band)
      .def_rw("description", &BandEdit::description)
      .def_rw("unit", &BandEdit::unit)
      .def_rw("scale", &BandEdit::scale)
      .def_rw("offset", &BandEdit::offset);
  def_items(band);
  auto file = nb::class_<FileEdit>(module, "FileEdit").def(nb::init<>());
  file.def_rw("nodata", &FileEdit::nodata)
      .def_rw("crs", &FileEdit::crs)
      .def_rw("remove_crs", &FileEdit::remove_crs)
      .def_rw("transform", &FileEdit::transform)
      .def_rw("remove_transform", &FileEdit::remove_transform)
      .def_rw("bands", &FileEdit::bands);
  def_items(file);
  auto bound = nb::class_<EditOptions>(module, "EditOptions").def(nb::init<>());
  bound.def_rw("rewrite", &EditOptions::rewrite);
  def_progress(bound);
  nb::class_<EditReport>(module, "EditReport")
      .def_prop_ro("way", [](EditReport const& report) { return to_str(to_string(report.way)); })
      .def_ro("file_bytes", &EditReport::file_bytes)
      .def_ro("hidden_by_sidecar", &EditReport::hidden_by_sidecar)
      .def_ro("no_longer_cog", &EditReport::no_longer_cog);
  module.def("edit", [](std::string const& path, FileEdit const& changes, EditOptions options) {
    return Work(options).run_interruptible([&] { return edit(path, changes, options); });
  });
}

}  // namespace terrazzo::python
