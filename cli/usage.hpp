// SPDX-License-Identifier: Apache-2.0
//
// What is wrong with a command line that CLI11 refused, in our words: one line that names the trouble and what to type.
#pragma once

#include "terrazzo/error.hpp"

#include <CLI/CLI.hpp>

#include <span>
#include <string>
#include <string_view>

namespace terrazzo::cli {

// Before parsing: `-ot` and `-outsize` of other programs would be taken for `-o` with a value. `words` begin with the
// command. Throws `usage` with our name of the option.
void check_other_names(CLI::App const& app, std::span<char const* const> words);

// The command that was meant, if one is close; else empty.
[[nodiscard]] std::string nearest_command(CLI::App const& app, std::string_view typed);

// `app` is the one that threw `error` while it parsed. The kind is `usage`.
[[nodiscard]] Error usage_error(CLI::App const& app, CLI::ParseError const& error);

}  // namespace terrazzo::cli
