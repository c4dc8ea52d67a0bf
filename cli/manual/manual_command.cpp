// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"
#include "manual/completion.hpp"
#include "manual/facts.hpp"
#include "manual/man_page.hpp"
#include "options/options.hpp"
#include "output/exit_code.hpp"

#include "terrazzo/output_file.hpp"

#include <filesystem>
#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <vector>

namespace terrazzo::cli {
namespace {

constexpr char kCompletionFooter[] =
    R"(The script completes commands, options, names of values and files. `cmake --install` puts the scripts where bash,
zsh and fish find them.

Examples:
  source <(terrazzo completion bash)                                                   this bash
  terrazzo completion bash > ~/.local/share/bash-completion/completions/terrazzo       every bash
  terrazzo completion zsh > ~/.zfunc/_terrazzo                                         a folder of $fpath
  terrazzo completion fish > ~/.config/fish/completions/terrazzo.fish)";

using Script = std::string (*)(CommandFacts const&);
constexpr Script kScripts[] = {bash_completion, zsh_completion, fish_completion};

void write_text(std::filesystem::path const& path, std::string const& text) {
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  if (error) {
    throw Error(ErrorKind::io, "cannot create the folder: " + error.message(), {.source = path.parent_path()});
  }
  OutputFile out(path);
  out.write(std::as_bytes(std::span(text)));
  out.publish();
}

// The layout of `share` below an installation prefix.
void write_all(CommandFacts const& program, std::filesystem::path const& share) {
  for (CommandFacts const* command : all_commands(program)) {
    write_text(share / "man/man1" / (man_page_name(*command) + ".1"), man_page(program, *command));
  }
  write_text(share / "bash-completion/completions/terrazzo", bash_completion(program));
  write_text(share / "zsh/site-functions/_terrazzo", zsh_completion(program));
  write_text(share / "fish/vendor_completions.d/terrazzo.fish", fish_completion(program));
}

int print_page(CommandFacts const& program, std::vector<std::string> const& names) {
  std::string wanted = program.path.front();
  for (std::string const& name : names) { wanted += " " + name; }
  for (CommandFacts const* command : all_commands(program)) {
    if (command->name() != wanted) { continue; }
    std::cout << man_page(program, *command);
    return kExitOk;
  }
  throw Error(ErrorKind::usage, "there is no command \"" + wanted + "\"; type \"terrazzo help\"");
}

}  // namespace

void add_completion(CLI::App& app, Action& action) {
  auto const shell = std::make_shared<std::size_t>(0);
  CLI::App* command = app.add_subcommand("completion", "Print a script that completes commands in bash, zsh or fish");
  command->footer(kCompletionFooter);
  add_choice(
      *command, "SHELL", {"bash", "zsh", "fish"}, [shell](std::size_t i) { *shell = i; }, "bash, zsh or fish")
      ->required()
      ->type_name("");
  command->callback([shell, &app, &action] {
    action = [shell, &app] {
      std::cout << kScripts[*shell](facts_of(app));
      return kExitOk;
    };
  });
}

void add_man(CLI::App& app, Action& action) {
  auto const names = std::make_shared<std::vector<std::string>>();
  auto const folder = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("man", "Print a manual page in roff");
  command->group("");  // for the build; people type `man terrazzo`
  command->add_option("COMMAND", *names, "A command, such as convert; none: terrazzo itself")->type_name("");
  command->add_option("--share", *folder, "Write all pages and completion scripts below this folder")
      ->type_name("FOLDER");
  command->callback([names, folder, &app, &action] {
    action = [names, folder, &app] {
      CommandFacts const program = facts_of(app);
      if (folder->empty()) { return print_page(program, *names); }
      write_all(program, *folder);
      return kExitOk;
    };
  });
}

}  // namespace terrazzo::cli
