// SPDX-License-Identifier: Apache-2.0
//
// Enumerations of the C++ API are texts in Python: resampling="average". A table names the values.
#pragma once

#include "terrazzo/error.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace terrazzo::python {

template <class Enum, std::size_t count>
using Names = std::array<std::pair<std::string_view, Enum>, count>;

template <class Enum, std::size_t count>
[[nodiscard]] std::string_view name_of(Names<Enum, count> const& names, Enum value) {
  for (auto const& [name, named] : names) {
    if (named == value) { return name; }
  }
  return "unknown";
}

// Throws a `usage` error that lists the names.
template <class Enum, std::size_t count>
[[nodiscard]] Enum parse(Names<Enum, count> const& names, std::string_view what, std::string_view text) {
  std::string known;
  for (auto const& [name, value] : names) {
    if (name == text) { return value; }
    known += known.empty() ? "" : ", ";
    known += name;
  }
  throw Error(ErrorKind::usage, std::string(what) + " is '" + std::string(text) + "'; the choices are " + known);
}

}  // namespace terrazzo::python
