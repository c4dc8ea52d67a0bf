// SPDX-License-Identifier: Apache-2.0
#include "manual/completion.hpp"

#include <algorithm>
#include <string_view>

namespace terrazzo::cli {
namespace {

std::string joined(std::vector<std::string> const& words, std::string_view separator) {
  std::string text;
  for (std::string const& word : words) { text += (text.empty() ? "" : std::string(separator)) + word; }
  return text;
}

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

std::vector<std::string> names_of(std::vector<CommandFacts> const& commands) {
  std::vector<std::string> names;
  for (CommandFacts const& command : commands) { names.push_back(command.path.back()); }
  return names;
}

// "bench read": the words after the program.
std::string words_after_program(CommandFacts const& command) {
  return joined({command.path.begin() + 1, command.path.end()}, " ");
}

// Words that complete the arguments of a command; empty if it takes files.
std::vector<std::string> operands_of(CommandFacts const& program, CommandFacts const& command) {
  if (!command.commands.empty()) { return names_of(command.commands); }
  for (OptionFacts const& option : command.options) {
    if (option.positional && option.kind == ValueKind::choice) { return option.choices; }
    if (option.positional && option.names.front() == "COMMAND") { return names_of(program.commands); }
  }
  return {};
}

bool takes_files(CommandFacts const& command) {
  return std::ranges::any_of(
      command.options, [](OptionFacts const& option) { return option.positional && option.kind == ValueKind::path; });
}

constexpr std::string_view kMadeBy = " completion of terrazzo, made by \"terrazzo completion ";

// -- bash

constexpr std::string_view kBashBegin = R"(_terrazzo() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local command= kind= words= options= operands= i
  # Bash cuts --option=value into three words.
  if [[ $current == = ]]; then
    current=
  elif [[ $previous == = ]]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$command ${COMP_WORDS[i]}" in
)";

constexpr std::string_view kBashEnd = R"(  esac
  COMPREPLY=()
  case $kind in
    words) mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current") ;;
    folder) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
    file) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
    text) ;;
    *)
      if [[ $current == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
      elif [[ -n $operands ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$operands" -- "$current")
      else
        compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$current")
      fi
      ;;
  esac
}
complete -F _terrazzo terrazzo
)";

std::string bash_value(OptionFacts const& option) {
  switch (option.kind) {
    case ValueKind::choice: return "kind=words words='" + joined(option.choices, " ") + "'";
    case ValueKind::folder: return "kind=folder";
    case ValueKind::path: return "kind=file";
    default: return "kind=text";
  }
}

std::string bash_case(CommandFacts const& program, CommandFacts const& command) {
  std::vector<std::string> names;
  std::string values;
  for (OptionFacts const& option : command.options) {
    if (option.positional) { continue; }
    names.insert(names.end(), option.names.begin(), option.names.end());
    if (option.kind == ValueKind::none) { continue; }
    values += "        " + joined(option.names, "|") + ") " + bash_value(option) + " ;;\n";
  }
  return "    '" + words_after_program(command) + "')\n      options='" + joined(names, " ") + "'\n      operands='" +
         joined(operands_of(program, command), " ") + "'\n" +
         (values.empty() ? "" : "      case $previous in\n" + values + "      esac\n") + "      ;;\n";
}

// -- zsh

// Inside single quotes and the brackets of _arguments.
std::string zsh_text(std::string text) {
  for (std::string_view const special : {"\\", "[", "]", ":"}) {
    text = replaced(std::move(text), special, "\\" + std::string(special));
  }
  return replaced(std::move(text), "'", "'\\''");
}

std::string zsh_action(OptionFacts const& option) {
  switch (option.kind) {
    case ValueKind::choice: return "(" + joined(option.choices, " ") + ")";
    case ValueKind::folder: return "_files -/";
    case ValueKind::path: return "_files";
    default: return " ";
  }
}

std::string zsh_option(OptionFacts const& option) {
  std::string const names = joined(option.names, " ");
  std::string spec = option.names.size() == 1 ? "'" + std::string(option.repeats ? "*" : "") + names
                                              : "'(" + names + ")'{" + joined(option.names, ",") + "}'";
  spec += "[" + zsh_text(option.description) + "]";
  if (option.kind != ValueKind::none) { spec += ":" + zsh_text(option.value) + ":" + zsh_action(option); }
  return spec + "'";
}

std::string zsh_function_name(CommandFacts const& command) { return "_" + command.name("_"); }

std::string zsh_function(CommandFacts const& program, CommandFacts const& command) {
  std::string text = zsh_function_name(command) + "() {\n";
  bool const nested = !command.commands.empty();
  if (nested) { text += "  local context state state_descr line\n  typeset -A opt_args\n"; }
  text += nested ? "  _arguments -C" : "  _arguments";
  for (OptionFacts const& option : command.options) {
    if (!option.positional) { text += " \\\n    " + zsh_option(option); }
  }
  if (!nested) {
    std::vector<std::string> const operands = operands_of(program, command);
    if (!operands.empty()) {
      text += " \\\n    '*:argument:(" + joined(operands, " ") + ")'";
    } else if (takes_files(command)) {
      text += " \\\n    '*:file:_files'";
    }
    return text + "\n}\n";
  }
  text +=
      " \\\n    '1:command:->command' \\\n    '*::argument:->argument'\n  case $state in\n    command)\n"
      "      local -a commands\n      commands=(\n";
  for (CommandFacts const& below : command.commands) {
    text += "        '" + below.path.back() + ":" + zsh_text(below.description) + "'\n";
  }
  text += "      )\n      _describe command commands\n      ;;\n    argument)\n      case $words[1] in\n";
  for (CommandFacts const& below : command.commands) {
    text += "        " + below.path.back() + ") " + zsh_function_name(below) + " ;;\n";
  }
  return text + "      esac\n      ;;\n  esac\n}\n";
}

// -- fish

std::string fish_text(std::string text) {
  return "'" + replaced(replaced(std::move(text), "\\", "\\\\"), "'", "\\'") + "'";
}

// True in fish if the words before the cursor choose the command.
std::string fish_condition(CommandFacts const& program, CommandFacts const& command) {
  if (command.path.size() == 1) { return "__fish_use_subcommand"; }
  std::string const& outer = command.path[1];
  if (command.path.size() > 2) {
    return "__fish_seen_subcommand_from " + outer + "; and __fish_seen_subcommand_from " + command.path[2];
  }
  std::string condition = "__fish_seen_subcommand_from " + outer;
  for (CommandFacts const& other : program.commands) {
    bool const contains =
        std::ranges::any_of(other.commands, [&](CommandFacts const& below) { return below.path.back() == outer; });
    if (contains) { condition += "; and not __fish_seen_subcommand_from " + other.path.back(); }
  }
  return condition;
}

std::string fish_option(OptionFacts const& option) {
  std::string text;
  for (std::string const& name : option.names) {
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  switch (option.kind) {
    case ValueKind::none: break;
    case ValueKind::choice: text += " -x -a '" + joined(option.choices, " ") + "'"; break;
    case ValueKind::folder: text += " -x -a '(__fish_complete_directories)'"; break;
    case ValueKind::path: text += " -r -F"; break;
    case ValueKind::text: text += " -x"; break;
  }
  return text + " -d " + fish_text(option.description);
}

}  // namespace

std::string bash_completion(CommandFacts const& program) {
  std::string text = "# bash" + std::string(kMadeBy) + "bash\"\n" + std::string(kBashBegin);
  for (CommandFacts const* command : all_commands(program)) {
    if (command->path.size() == 1) { continue; }
    std::string const words = words_after_program(*command);
    std::string const before = command->path.size() == 2 ? " " : "";
    text += "      '" + before + words + "') command='" + words + "' ;;\n";
  }
  text += "    esac\n  done\n  case $command in\n";
  for (CommandFacts const* command : all_commands(program)) { text += bash_case(program, *command); }
  return text + std::string(kBashEnd);
}

std::string zsh_completion(CommandFacts const& program) {
  std::string text = "#compdef terrazzo\n# zsh" + std::string(kMadeBy) + "zsh\"\n";
  for (CommandFacts const* command : all_commands(program)) { text += zsh_function(program, *command); }
  // Autoloaded from a folder of $fpath, or sourced.
  return text +
         "if [[ $funcstack[1] == _terrazzo ]]; then\n  _terrazzo \"$@\"\nelse\n  compdef _terrazzo terrazzo\nfi\n";
}

std::string fish_completion(CommandFacts const& program) {
  std::string text = "# fish" + std::string(kMadeBy) + "fish\"\n";
  for (CommandFacts const* command : all_commands(program)) {
    std::string const condition = "complete -c terrazzo -n " + fish_text(fish_condition(program, *command));
    for (CommandFacts const& below : command->commands) {
      text += condition + " -f -a " + below.path.back() + " -d " + fish_text(below.description) + "\n";
    }
    std::vector<std::string> const operands = operands_of(program, *command);
    if (command->commands.empty() && !operands.empty()) {
      text += condition + " -f -a " + fish_text(joined(operands, " ")) + "\n";
    }
    for (OptionFacts const& option : command->options) {
      if (!option.positional) { text += condition + fish_option(option) + "\n"; }
    }
  }
  return text;
}

}  // namespace terrazzo::cli
