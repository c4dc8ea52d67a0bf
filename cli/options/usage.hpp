// SPDX-License-Identifier: Apache-2.0
//
// Explains a command line that CLI11 refused: one line that names the mistake and a correction.
#pragma once

#include "terrazzo/error.hpp"

#include <CLI/CLI.hpp>

#include <string>
#include <string_view>

namespace terrazzo::cli {

// The nearest command name, if one is close; else empty.
[[nodiscard]] std::string nearest_command(CLI::App const& app, std::string_view typed);

// `app` is the parser that threw `error`. The kind is `usage`.
[[nodiscard]] Error usage_error(CLI::App const& app, CLI::ParseError const& error);

}  // namespace terrazzo::cli
