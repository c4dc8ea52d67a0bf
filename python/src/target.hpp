// SPDX-License-Identifier: Apache-2.0
//
// The place of a file that is written.
#pragma once

#include "bindings.hpp"
#include "terrazzo/write.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>

#include <memory>
#include <string>
#include <utility>
#include <variant>

namespace terrazzo::python {

// Where a file goes: a path, or a sink of Python.
using Target = std::variant<std::string, std::shared_ptr<ByteSink>>;

template <class Body>
auto with_target(Target const& target, Body&& body) {
  return std::visit([&](auto const& place) { return body(place); }, target);
}

}  // namespace terrazzo::python
