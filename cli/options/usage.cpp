// SPDX-License-Identifier: Apache-2.0
#include "options/usage.hpp"

#include "options/parse.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace terrazzo::cli {
namespace {

// The innermost command on the command line, and its full name: "terrazzo bench read".
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

// "--out PATH", or "FILE" for a positional argument.
std::string with_value(CLI::Option const& option) {
  std::string const value = option.get_type_name();
  return option.get_positional() ? option.get_name() : option.get_name() + (value.empty() ? "" : " " + value);
}

// The command with its files and required arguments: "terrazzo read FILE --out PATH".
std::string shortest_line(Command const& command) {
  std::string line = command.words;
  for (CLI::Option const* option : command.app->get_options()) {
    if (option->get_required() || option->get_positional()) { line += " " + with_value(*option); }
  }
  return line;
}

// Edit distance: letters to change, add, remove or swap with their neighbour.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) { last[j] = j; }
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1), last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

constexpr std::size_t kFar = 3;

// Distance of a typed word from an option's name, both without dashes; kFar if the option was probably not meant. A
// prefix of the name is near, and so is a word that differs only at its end (--resample). Another word with the same
// beginning (--strips, --strict) is far.
std::size_t farness(std::string_view name, std::string_view typed) {
  if (typed.size() >= 2 && name.starts_with(typed)) { return 1; }
  std::size_t const apart = distance(name, typed);
  if (apart <= (typed.size() >= 8 ? 2U : 1U)) { return apart; }
  auto const common = static_cast<std::size_t>(std::ranges::mismatch(name, typed).in1 - name.begin());
  return common >= 4 && common * 4 >= typed.size() * 3 ? 2 : kFar;
}

bool has_option(CLI::App const& app, char const* name) { return app.get_option_no_throw(name) != nullptr; }

bool is_option(std::string_view word) { return word.starts_with("-") && !are_numbers(word); }

// The option that was probably meant, if one is close.
std::string nearest_option(CLI::App const& app, std::string_view typed) {
  std::string nearest;
  if (!typed.starts_with("--") && typed.size() < 4) { return nearest; }  // -x
  std::string_view const letters = typed.substr(typed.find_first_not_of('-'));
  std::size_t least = kFar;
  for (CLI::Option const* option : app.get_options()) {
    for (std::string const& name : option->get_lnames()) {
      std::size_t const apart = farness(name, letters);
      if (apart < least) {
        least = apart;
        nearest = "--" + name;
      }
    }
  }
  return nearest;
}

// Words that belong to no option: a point, numbers without commas, a metadata item, a second file.
std::string tell_surplus(Command const& command, std::vector<std::string> const& left) {
  std::string const told = command.words + " does not take " + in_quotes(left.front()) + "; ";
  if (std::ranges::all_of(left, are_numbers)) {
    CLI::Option const* const factors = command.app->get_option_no_throw("--factors");
    std::vector<std::string> numbers = factors == nullptr ? std::vector<std::string>() : factors->results();
    numbers.insert(numbers.end(), left.begin(), left.end());
    std::string list;
    for (std::string const& word : numbers) { list += (list.empty() ? "" : ",") + word; }
    if (factors != nullptr) { return told + "type " + in_quotes("--factors " + list); }
    if (std::ranges::count(list, ',') == 1 && has_option(*command.app, "--at")) {
      return told + "type " + in_quotes("--at " + list);
    }
    if (left.size() > 1) { return told + "separate numbers of one option by commas: type \"1,2,3\", not \"1 2 3\""; }
  }
  if (left.front().find('=') != std::string::npos && has_option(*command.app, "--set")) {
    return told + "type " + in_quotes("--set " + left.front());
  }
  return told + "type " + in_quotes(shortest_line(command));
}

// "; read, convert and cog have it": the commands with an option that another command lacks.
std::string tell_owners(CLI::App const& root, std::string const& option) {
  std::vector<std::string> owners;
  for (CLI::App const* other : root.get_subcommands({})) {
    if (has_option(*other, option.c_str())) { owners.push_back(other->get_name()); }
  }
  if (owners.empty()) { return ""; }
  std::string names;
  for (std::size_t i = 0; i < owners.size(); ++i) {
    names += (i == 0 ? "" : i + 1 == owners.size() ? " and " : ", ") + owners[i];
  }
  return "; " + names + (owners.size() == 1 ? " has it" : " have it");
}

// `root` is the program: `terrazzo convert --cog` means the command `cog`.
std::string tell_unknown(CLI::App const& root, Command const& command, std::string const& word) {
  std::string told = command.words + " has no option " + word;
  for (CLI::App const* other : root.get_subcommands({})) {
    if (word == "--" + other->get_name()) {
      return told + "; type " + in_quotes(root.get_name() + " " + other->get_name());
    }
  }
  std::string const nearest = nearest_option(*command.app, word);
  if (nearest.empty()) { told += tell_owners(root, word); }
  return told + "; type " +
         (nearest.empty() ? in_quotes(command.words + " --help") + " to list its options" : in_quotes(nearest));
}

std::string tell_unexpected(CLI::App const& root, Command const& command) {
  std::vector<std::string> const left = command.app->remaining();
  auto const option = std::ranges::find_if(left, is_option);  // what follows may be its value
  if (option != left.end()) { return tell_unknown(root, command, option->substr(0, option->find('='))); }
  return tell_surplus(command, left.empty() ? std::vector<std::string>{""} : left);
}

std::string tell_missing(Command const& command) {
  std::string names;
  for (CLI::App const* below : command.app->get_subcommands({})) {
    names += (names.empty() ? "" : ", ") + below->get_name();
  }
  if (!names.empty()) {
    return command.words + " needs one of: " + names + "; type " + in_quotes(command.words + " --help") +
           " for examples";
  }
  for (CLI::Option const* option : command.app->get_options()) {
    if (!option->get_required() || option->count() > 0) { continue; }
    // `convert a.tif b.tif`: the surplus word was meant for this option.
    std::vector<std::string> const left = command.app->remaining();
    bool const meant = left.size() == 1 && !left.front().starts_with("-");
    return option->get_name() + " is missing; type " +
           in_quotes(meant ? option->get_name() + " " + left.front() : shortest_line(command));
  }
  return "an argument is missing; type " + in_quotes(shortest_line(command));
}

// CLI11's texts begin with the name of the option.
CLI::Option const* option_named_in(CLI::App const& app, std::string_view text) {
  std::string const name(text.substr(0, text.find_first_of(": ")));
  return app.get_option_no_throw(name);
}

std::string tell_count(Command const& command, std::string_view text) {
  CLI::Option const* const option = option_named_in(*command.app, text);
  if (option == nullptr) { return std::string(text) + "; type " + in_quotes(command.words + " --help"); }
  if (option->count() > 1) { return option->get_name() + " is given twice; type it once"; }
  return option->get_name() + " needs a value; type " + in_quotes(with_value(*option));
}

// "Could not convert: --level = high"
std::string tell_conversion(Command const& command, std::string_view text) {
  std::size_t const colon = text.find(": "), equals = text.find(" = ");
  if (colon == std::string_view::npos || equals == std::string_view::npos || equals < colon) {
    return std::string(text) + "; type " + in_quotes(command.words + " --help");
  }
  std::string const name(text.substr(colon + 2, equals - colon - 2));
  return name + " " + in_quotes(text.substr(equals + 3)) + ": expected a number";
}

// "--a excludes --b", "--a requires --b"
std::string second_of(std::string_view text) { return std::string(text.substr(text.rfind(' ') + 1)); }

}  // namespace

std::string nearest_command(CLI::App const& app, std::string_view typed) {
  std::string nearest;
  std::size_t least = kFar;
  for (CLI::App const* command : app.get_subcommands({})) {
    std::size_t const apart = farness(command->get_name(), typed);
    if (apart < least) {
      least = apart;
      nearest = command->get_name();
    }
  }
  return nearest;
}

void refuse_values_as_files(CLI::App const& command, std::vector<std::string> const& files) {
  if (std::ranges::any_of(command.remaining(), is_option)) { return; }  // the value of an unknown option, told later
  std::vector<std::string> values;
  for (std::string const& word : files) {
    std::error_code unknown;  // a word that cannot be a path is no file
    bool const is_value = are_numbers(word) || word.find('=') != std::string::npos;
    if (is_value && !std::filesystem::exists(word, unknown)) { values.push_back(word); }
  }
  if (values.empty()) { return; }
  Command const named{&command, command.get_parent()->get_name() + " " + command.get_name()};
  throw Error(ErrorKind::usage, tell_surplus(named, values));
}

Error unknown_option(CLI::App const& app, CLI::App const& command, std::string_view name, std::string_view word) {
  return Error(ErrorKind::usage, tell_unknown(app, {&command, std::string(name)}, std::string(word)));
}

Error usage_error(CLI::App const& app, CLI::ParseError const& error) {
  Command const command = chosen_command(app);
  std::string_view const text = error.what();
  std::string const first(text.substr(0, text.find(' ')));
  std::string told;
  if (dynamic_cast<CLI::ExtrasError const*>(&error) != nullptr) {
    told = tell_unexpected(app, command);
  } else if (dynamic_cast<CLI::RequiredError const*>(&error) != nullptr) {
    told = tell_missing(command);
  } else if (dynamic_cast<CLI::ArgumentMismatch const*>(&error) != nullptr) {
    told = tell_count(command, text);
  } else if (dynamic_cast<CLI::ConversionError const*>(&error) != nullptr) {
    told = tell_conversion(command, text);
  } else if (dynamic_cast<CLI::ExcludesError const*>(&error) != nullptr) {
    told = first + " and " + second_of(text) + " exclude each other; type one of them";
  } else if (dynamic_cast<CLI::RequiresError const*>(&error) != nullptr) {
    CLI::Option const* const needed = command.app->get_option_no_throw(second_of(text));
    told = first + " needs " + second_of(text) + "; type " +
           in_quotes(needed == nullptr ? second_of(text) : with_value(*needed)) + " too";
  } else {
    told = std::string(text) + "; type " + in_quotes(command.words + " --help");
  }
  return Error(ErrorKind::usage, std::move(told));
}

}  // namespace terrazzo::cli
