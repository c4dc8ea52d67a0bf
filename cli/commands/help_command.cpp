// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"
#include "options/usage.hpp"
#include "output/exit_code.hpp"

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace terrazzo::cli {
namespace {

constexpr char kFooter[] = R"(Examples:
  terrazzo help
  terrazzo help convert
  terrazzo help bench read)";

int run(CLI::App const& app, std::vector<std::string> const& names) {
  CLI::App const* command = &app;
  std::string path = app.get_name();
  for (std::string const& name : names) {
    auto const below = command->get_subcommands({});
    auto const next = std::ranges::find(below, name, [](CLI::App const* one) { return one->get_name(); });
    if (next == below.end()) {
      std::string const nearest = nearest_command(*command, name);
      throw Error(ErrorKind::usage, path + " has no command \"" + name + "\"; type \"" + app.get_name() + " help" +
                                        (nearest.empty() ? "" : " " + nearest) + "\"");
    }
    command = *next;
    path += " " + name;
  }
  // App::help() would describe the command that was parsed: `help`.
  std::cout << app.get_formatter()->make_help(command, path, CLI::AppFormatMode::Normal);
  return kExitOk;
}

}  // namespace

void add_help(CLI::App& app, Action& action) {
  auto const names = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app.add_subcommand("help", "Print the help of terrazzo or of a command");
  command->footer(kFooter);
  command->add_option("COMMAND", *names, "A command, such as convert; none: all commands")->type_name("");
  command->callback([names, &app, &action] { action = [names, &app] { return run(app, *names); }; });
}

}  // namespace terrazzo::cli
