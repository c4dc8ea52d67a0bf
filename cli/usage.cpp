// SPDX-License-Identifier: Apache-2.0
#include "usage.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace terrazzo::cli {
namespace {

// The innermost command that was named, and the words that lead to it: "terrazzo bench read".
struct Command {
  CLI::App const* app;
  std::string words;
};

Command chosen_command(CLI::App const& app) {
  Command command{&app, app.get_name()};
  while (!command.app->get_subcommands().empty()) {
    command.app = command.app->get_subcommands().front();
    command.words += " " + command.app->get_name();
  }
  return command;
}

std::string in_quotes(std::string_view text) { return "\"" + std::string(text) + "\""; }

// "--out PATH", or "FILE" for one that has no name.
std::string with_value(CLI::Option const& option) {
  std::string const value = option.get_type_name();
  return option.get_positional() ? option.get_name() : option.get_name() + (value.empty() ? "" : " " + value);
}

// All that a command cannot do without: "terrazzo read FILE --out PATH".
std::string shortest_line(Command const& command) {
  std::string line = command.words;
  for (CLI::Option const* option : command.app->get_options()) {
    if (option->get_required()) { line += " " + with_value(*option); }
  }
  return line;
}

// Letters to change, add or leave out to make one word of the other.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t i = 0; i < row.size(); ++i) { row[i] = i; }
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      std::size_t const changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

// The option that was meant, if one is close.
std::string nearest_option(CLI::App const& app, std::string_view typed) {
  constexpr std::size_t kFar = 3;
  std::string nearest;
  std::size_t least = kFar;
  for (CLI::Option const* option : app.get_options()) {
    std::string const name = option->get_name();
    if (!name.starts_with("--")) { continue; }
    std::size_t const apart = name.starts_with(typed) ? 1 : distance(name, typed);
    if (apart < least) {
      least = apart;
      nearest = name;
    }
  }
  return nearest;
}

std::string tell_unexpected(Command const& command) {
  std::vector<std::string> const left = command.app->remaining();
  std::string const word = left.empty() ? "" : left.front().substr(0, left.front().find('='));
  if (!word.starts_with("-")) {
    return command.words + " has no use for " + in_quotes(word) + "; type " + in_quotes(shortest_line(command));
  }
  std::string const nearest = nearest_option(*command.app, word);
  return command.words + " has no option " + word + "; type " +
         (nearest.empty() ? in_quotes(command.words + " --help") + " to see those it has" : in_quotes(nearest));
}

std::string tell_missing(Command const& command) {
  std::string names;
  for (CLI::App const* below : command.app->get_subcommands({})) {
    names += (names.empty() ? "" : ", ") + below->get_name();
  }
  if (!names.empty()) {
    return command.words + " wants one of: " + names + "; type " + in_quotes(command.words + " --help") +
           " for examples";
  }
  for (CLI::Option const* option : command.app->get_options()) {
    if (option->get_required() && option->count() == 0) {
      return option->get_name() + " is missing; type " + in_quotes(shortest_line(command));
    }
  }
  return "an argument is missing; type " + in_quotes(shortest_line(command));
}

// CLI11's texts begin with the option they are about.
CLI::Option const* option_named_in(CLI::App const& app, std::string_view text) {
  std::string const name(text.substr(0, text.find_first_of(": ")));
  return app.get_option_no_throw(name);
}

std::string tell_count(Command const& command, std::string_view text) {
  CLI::Option const* const option = option_named_in(*command.app, text);
  if (option == nullptr) { return std::string(text) + "; type " + in_quotes(command.words + " --help"); }
  if (option->count() > 1) { return option->get_name() + " is given twice; type it once"; }
  return option->get_name() + " wants a value; type " + in_quotes(with_value(*option));
}

// "--a excludes --b", "--a requires --b"
std::string second_of(std::string_view text) { return std::string(text.substr(text.rfind(' ') + 1)); }

}  // namespace

Error usage_error(CLI::App const& app, CLI::ParseError const& error) {
  Command const command = chosen_command(app);
  std::string_view const text = error.what();
  std::string const first(text.substr(0, text.find(' ')));
  std::string told;
  if (dynamic_cast<CLI::ExtrasError const*>(&error) != nullptr) {
    told = tell_unexpected(command);
  } else if (dynamic_cast<CLI::RequiredError const*>(&error) != nullptr) {
    told = tell_missing(command);
  } else if (dynamic_cast<CLI::ArgumentMismatch const*>(&error) != nullptr) {
    told = tell_count(command, text);
  } else if (dynamic_cast<CLI::ExcludesError const*>(&error) != nullptr) {
    told = first + " and " + second_of(text) + " exclude each other; type one of them";
  } else if (dynamic_cast<CLI::RequiresError const*>(&error) != nullptr) {
    CLI::Option const* const needed = command.app->get_option_no_throw(second_of(text));
    told = first + " is of use with " + second_of(text) + " only; type " +
           in_quotes(needed == nullptr ? second_of(text) : with_value(*needed)) + " too";
  } else {
    told = std::string(text) + "; type " + in_quotes(command.words + " --help");
  }
  return Error(ErrorKind::usage, std::move(told));
}

}  // namespace terrazzo::cli
