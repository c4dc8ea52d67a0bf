// SPDX-License-Identifier: Apache-2.0
//
// Options and commands that users of GDAL, rio and rio-cogeo type by habit. A word that means the same here is
// accepted; any other word is a usage error that shows the option to type, with the user's values.
#pragma once

#include <CLI/CLI.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace terrazzo::cli {

// Before parsing, because `-ot` would be parsed as `-o` with a value. `words` begin with the command. Returns the words
// to parse, in which accepted names are replaced by ours; `--version` and `-V` after a command mean the program's.
// Throws `usage` for options of other programs.
[[nodiscard]] std::vector<std::string> translate_habits(CLI::App const& app, std::span<char const* const> words);

// The command to type instead of a command or program of GDAL or rio; empty for an unknown word. Throws nothing.
[[nodiscard]] std::string command_for_habit(CLI::App const& app, std::string_view typed);

}  // namespace terrazzo::cli
