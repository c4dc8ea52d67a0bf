// SPDX-License-Identifier: Apache-2.0
//
// Texts of files may be invalid UTF-8; Python's str cannot.
#pragma once

#include "bindings.hpp"

#include <nanobind/stl/optional.h>

#include <optional>
#include <string_view>

namespace terrazzo::python {

// Invalid bytes become U+FFFD.
[[nodiscard]] inline nb::str to_str(std::string_view text) {
  return nb::steal<nb::str>(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

// A file name: invalid bytes become surrogates, which os.fsencode() turns back.
[[nodiscard]] inline nb::str to_file_name(std::string_view text) {
  return nb::steal<nb::str>(PyUnicode_DecodeFSDefaultAndSize(text.data(), static_cast<Py_ssize_t>(text.size())));
}

// None for an empty text.
[[nodiscard]] inline std::optional<nb::str> to_str_or_none(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional(to_str(text));
}

}  // namespace terrazzo::python
