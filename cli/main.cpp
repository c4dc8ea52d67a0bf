// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"
#include "interrupt.hpp"
#include "options/habits.hpp"
#include "options/usage.hpp"
#include "output/errors.hpp"
#include "output/exit_code.hpp"

#include "terrazzo/version.hpp"

#include <algorithm>
#include <iostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace terrazzo;

constexpr char kFooter[] = R"(Try:
  terrazzo info dem.tif                                   describe the file
  terrazzo preview dem.tif --style hillshade --out a.png  draw it
  terrazzo read dem.tif --window 0,0,512,512 --out a.npy  read pixels for NumPy
  terrazzo validate dem.tif                               check that it is a valid COG
  terrazzo doctor                                         list the GPU, libraries and missing parts
  terrazzo help COMMAND                                   options and examples, as COMMAND --help

Exit codes: 0 ok, 1 a defect of terrazzo, 2 usage, 3 io, 4 malformed file, 5 unsupported, 6 limit, 7 device,
8 cancelled.)";

// Errors in the command line occur before its options are parsed.
bool wants_json(int argc, char** argv) {
  return std::any_of(argv + 1, argv + argc, [](char const* word) { return std::string_view(word) == "--json"; });
}

// CLI11 does not name the unknown command.
void check_command_name(CLI::App const& app, std::string_view name) {
  if (app.get_option_no_throw(std::string(name)) != nullptr) { return; }  // --help, --version
  if (name.starts_with("-")) {
    throw Error(ErrorKind::usage, "terrazzo has no option " + std::string(name) +
                                      "; type \"terrazzo COMMAND FILE\", with options after the command");
  }
  std::string known;
  for (CLI::App const* command : app.get_subcommands({})) {
    if (command->get_name() == name) { return; }
    if (command->get_group().empty()) { continue; }  // hidden
    known += (known.empty() ? "" : ", ") + command->get_name();
  }
  std::string const unknown = "there is no command \"" + std::string(name) + "\"; ";
  std::string const habit = cli::command_for_habit(app, name);
  if (!habit.empty()) { throw Error(ErrorKind::usage, unknown + habit); }
  std::string const nearest = cli::nearest_command(app, name);
  throw Error(ErrorKind::usage,
              unknown + "type " + (nearest.empty() ? "" : "\"terrazzo " + nearest + "\", or ") + "one of: " + known);
}

int run(int argc, char** argv) {
  CLI::App app("Reads and writes GeoTIFF and Cloud-Optimized GeoTIFF.", "terrazzo");
  app.set_version_flag("-V,--version", "terrazzo " + std::string(version()), "Print the version");
  app.set_help_flag("-h,--help", "Print this help");
  app.require_subcommand(1);
  app.footer(kFooter);
  app.get_formatter()->column_width(34);

  cli::Action action;
  cli::add_info(app, action);
  cli::add_read(app, action);
  cli::add_plan(app, action);
  cli::add_checksum(app, action);
  cli::add_sample(app, action);
  cli::add_stats(app, action);
  cli::add_preview(app, action);
  cli::add_cog(app, action);
  cli::add_convert(app, action);
  cli::add_mosaic(app, action);
  cli::add_overviews(app, action);
  cli::add_edit(app, action);
  cli::add_validate(app, action);
  cli::add_bench(app, action);
  cli::add_doctor(app, action);
  cli::add_help(app, action);
  cli::add_completion(app, action);
  cli::add_man(app, action);
  if (argc < 2) {
    std::cerr << app.help();
    return cli::exit_code(ErrorKind::usage);
  }
  check_command_name(app, argv[1]);
  std::vector<std::string> words = cli::translate_habits(app, std::span(argv + 1, argv + argc));
  std::ranges::reverse(words);  // CLI11 takes them from the end
  try {
    app.parse(std::move(words));
  } catch (CLI::ParseError const& error) {
    if (error.get_exit_code() == 0) { return app.exit(error); }  // help and version
    throw cli::usage_error(app, error);
  }
  return action();
}

// Fails unless all output was written.
int check_output(int code) {
  std::cout.flush();
  if (code == cli::kExitOk && !std::cout) { throw Error(ErrorKind::io, "cannot write to standard output"); }
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  cli::install_signal_handlers();
  bool const json = argc > 0 && wants_json(argc, argv);
  int const code = cli::run_guarded([&] { return check_output(run(argc, argv)); }, json);
  cli::end_if_reader_has_gone();
  return code;
}
