// SPDX-License-Identifier: Apache-2.0
#include "bindings.hpp"
#include "terrazzo/version.hpp"
#include "text.hpp"

NB_MODULE(_core, module) {
  namespace bind = terrazzo::python;
  module.doc() = "The C++ API of Terrazzo. Use the functions of the package `terrazzo`.";
  module.attr("version") = bind::to_str(terrazzo::version());
  // Datasets in global variables of a program live until the interpreter ends; nanobind would report them as leaks.
  nanobind::set_leak_warnings(false);
  bind::bind_error(module);
  bind::bind_settings(module);
  bind::bind_info(module);
  bind::bind_source(module);
  bind::bind_sink(module);
  bind::bind_read(module);
  bind::bind_blocks(module);
  bind::bind_coordinates(module);
  bind::bind_boundless(module);
  bind::bind_sample(module);
  bind::bind_write(module);
  bind::bind_convert(module);
  bind::bind_mosaic(module);
  bind::bind_edit(module);
  bind::bind_overviews(module);
  bind::bind_stats(module);
  bind::bind_validate(module);
  bind::bind_codecs(module);
  bind::bind_device(module);
}
