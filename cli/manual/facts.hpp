// SPDX-License-Identifier: Apache-2.0
//
// The commands and options of the command line as plain data, taken from its parser. Shell completion and manual pages
// are made from them, so that they have every option that the parser has.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace terrazzo::cli {

enum class ValueKind : unsigned char { none, text, choice, path, folder };

struct OptionFacts {
  std::vector<std::string> names;  // with dashes, short ones first; the argument's name if positional
  ValueKind kind = ValueKind::none;
  std::string value;  // "COL,ROW,W,H"; empty for flags
  std::vector<std::string> choices;
  std::string description, group;
  bool positional = false, required = false, repeats = false;
};

struct CommandFacts {
  std::vector<std::string> path;  // {"terrazzo", "bench", "read"}
  std::string description, footer;
  std::vector<OptionFacts> options;
  std::vector<CommandFacts> commands;  // without hidden ones

  // "terrazzo bench read", or with another separator
  [[nodiscard]] std::string name(std::string const& separator = " ") const;
};

[[nodiscard]] CommandFacts facts_of(CLI::App const& app);

// The facts of every command, outer ones first.
[[nodiscard]] std::vector<CommandFacts const*> all_commands(CommandFacts const& facts);

}  // namespace terrazzo::cli
