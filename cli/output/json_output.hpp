// SPDX-License-Identifier: Apache-2.0
//
// JSON that scripts can rely on: keys in the order written, NaN and infinities as strings (JSON has none), text that
// is not UTF-8 with replacement characters, characters that control terminals escaped.
#pragma once

#include "output/format.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>

namespace terrazzo::cli {

using Json = nlohmann::ordered_json;

[[nodiscard]] inline Json number(double value) {
  if (std::isnan(value)) { return "nan"; }
  if (std::isinf(value)) { return value > 0 ? "inf" : "-inf"; }
  return value;
}

template <class T>
[[nodiscard]] Json or_null(std::optional<T> const& value) {
  return value ? Json(*value) : Json();
}

// The library escapes C0 only. REQUIRES: valid UTF-8; `indent` as in dump().
[[nodiscard]] inline std::string dumped(Json const& json, int indent) {
  std::string const text = json.dump(indent, ' ', false, Json::error_handler_t::replace);
  std::string safe;
  safe.reserve(text.size());
  for (std::string_view rest = text; !rest.empty();) {
    std::size_t const bytes = control_bytes(rest);
    if (bytes == 0 || rest.front() == '\n') {
      safe += rest.front();
      rest.remove_prefix(1);
      continue;
    }
    auto const at = [&](std::size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(rest[i])); };
    unsigned const code = bytes == 1   ? at(0)
                          : bytes == 2 ? (at(0) & 0x1F) << 6 | (at(1) & 0x3F)
                                       : (at(0) & 0x0F) << 12 | (at(1) & 0x3F) << 6 | (at(2) & 0x3F);
    std::array<char, 12> escaped{};
    std::snprintf(escaped.data(), escaped.size(), "\\u%04x", code);
    safe += escaped.data();
    rest.remove_prefix(bytes);
  }
  return safe;
}

[[nodiscard]] inline std::string to_line(Json const& json) { return dumped(json, -1); }

inline void print_json(Json const& json) { std::cout << dumped(json, 2) << '\n'; }

// For a command whose result may be on standard output itself: then one line on standard error, like errors.
inline void print_json_beside(Json const& json, bool stdout_taken) {
  if (stdout_taken) {
    std::cerr << to_line(json) << '\n';
  } else {
    print_json(json);
  }
}

}  // namespace terrazzo::cli
