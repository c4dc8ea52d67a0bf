// SPDX-License-Identifier: Apache-2.0
//
// One function for each public header: it adds the header's types and functions to terrazzo._core. The module has no
// logic of its own; python/terrazzo gives it the shape that Python programs use. Types keep the names of the C++ API.
#pragma once

#include <nanobind/nanobind.h>

namespace terrazzo::python {

namespace nb = nanobind;

void bind_blocks(nb::module_& module);
void bind_boundless(nb::module_& module);
void bind_codecs(nb::module_& module);
void bind_convert(nb::module_& module);
void bind_coordinates(nb::module_& module);
void bind_device(nb::module_& module);
void bind_edit(nb::module_& module);
void bind_error(nb::module_& module);
void bind_info(nb::module_& module);
void bind_mosaic(nb::module_& module);
void bind_overviews(nb::module_& module);
void bind_read(nb::module_& module);
void bind_sample(nb::module_& module);
void bind_settings(nb::module_& module);
void bind_sink(nb::module_& module);
void bind_source(nb::module_& module);
void bind_stats(nb::module_& module);
void bind_validate(nb::module_& module);
void bind_write(nb::module_& module);

}  // namespace terrazzo::python
