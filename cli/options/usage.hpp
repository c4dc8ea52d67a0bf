// SPDX-License-Identifier: Apache-2.0
//
// Explains a command line that CLI11 refused: one line that names the mistake and a correction.
#pragma once

#include "terrazzo/error.hpp"

#include <CLI/CLI.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace terrazzo::cli {

// The nearest command name, if one is close; else empty.
[[nodiscard]] std::string nearest_command(CLI::App const& app, std::string_view typed);

// Throws `usage` if words that CLI11 took for files are values of options: numbers ("overviews a.tif 2 4") or metadata
// items ("edit a.tif KEY=VALUE") that name no existing file. Returns if an option is unknown: its error comes later.
void refuse_values_as_files(CLI::App const& command, std::vector<std::string> const& files);

// For an option that `command` lacks. `name` is the full name of the command: "terrazzo bench read".
[[nodiscard]] Error unknown_option(CLI::App const& app, CLI::App const& command, std::string_view name,
                                   std::string_view word);

// `app` is the parser that threw `error`. The kind is `usage`.
[[nodiscard]] Error usage_error(CLI::App const& app, CLI::ParseError const& error);

}  // namespace terrazzo::cli
