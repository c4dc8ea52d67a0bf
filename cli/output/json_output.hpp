// SPDX-License-Identifier: Apache-2.0
//
// JSON that scripts can rely on: keys in the order written, NaN and infinities as strings (JSON has none), text that
// is not UTF-8 with replacement characters.
#pragma once

#include <nlohmann/json.hpp>

#include <cmath>
#include <iostream>
#include <optional>
#include <string>

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

[[nodiscard]] inline std::string to_line(Json const& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

inline void print_json(Json const& json) {
  std::cout << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

// For a command whose result may be on standard output itself: then one line on standard error, like errors.
inline void print_json_beside(Json const& json, bool stdout_taken) {
  if (stdout_taken) {
    std::cerr << to_line(json) << '\n';
  } else {
    print_json(json);
  }
}

}  // namespace terrazzo::cli
