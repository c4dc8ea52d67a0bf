// SPDX-License-Identifier: Apache-2.0
//
// Builds messages: text("tile ", 3, " of ", n). libstdc++ 12 has no <format>.
#pragma once

#include <sstream>
#include <string>

namespace terrazzo {

template <class... Parts>
[[nodiscard]] std::string text(Parts const&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return std::move(out).str();
}

}  // namespace terrazzo
