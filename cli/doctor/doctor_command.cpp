// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"
#include "doctor/doctor_facts.hpp"
#include "doctor/doctor_report.hpp"
#include "output/exit_code.hpp"
#include "output/json_output.hpp"

#include <iostream>
#include <memory>

namespace terrazzo::cli {
namespace {

constexpr char kFooter[] =
    R"(Lists the GPU and its driver, NVIDIA's libraries (path and version), host decoders, limits, and the environment
variables in effect. Ends with the default engine, missing parts, and the commands that install them. The exit code is
0, with or without a GPU.

Examples:
  terrazzo doctor
  terrazzo doctor --json                                  everything, for scripts and bug reports
  TERRAZZO_DISABLE=gpu terrazzo doctor                    as on a machine without a GPU
  TERRAZZO_VENDOR_PATH=/opt/nvcomp/lib terrazzo doctor    libraries in another folder)";

struct Options {
  bool json = false;
};

int run(Options const& options) {
  DoctorFacts const facts = gather_facts();
  if (options.json) {
    print_json(to_json(facts));
  } else {
    print(facts, std::cout);
  }
  return kExitOk;
}

}  // namespace

void add_doctor(CLI::App& app, Action& action) {
  auto const options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("doctor", "List the GPU, libraries and limits of this machine, and missing parts");
  command->footer(kFooter);
  command->add_flag("--json", options->json, "Print JSON, errors too")->group("General");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace terrazzo::cli
