// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"
#include "doctor_facts.hpp"
#include "doctor_report.hpp"
#include "exit_code.hpp"
#include "json_output.hpp"

#include <iostream>
#include <memory>

namespace terrazzo::cli {
namespace {

constexpr char kFooter[] =
    R"(Looks at this machine: the GPU and its driver, NVIDIA's libraries (which were found where, in which version), the
decoders of the host, limits, and the environment variables that are in force. Ends with what is used by default, what
is missing, and what to type to get it. A machine without a GPU is a healthy one: the exit code is 0.

Examples:
  terrazzo doctor
  terrazzo doctor --json                                  everything, for scripts and bug reports
  TERRAZZO_DISABLE=gpu terrazzo doctor                    as if there were no GPU
  TERRAZZO_VENDOR_PATH=/opt/nvcomp/lib terrazzo doctor    libraries that lie somewhere else)";

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
  CLI::App* command = app.add_subcommand("doctor", "What this machine has: GPU, libraries, limits, what is missing");
  command->footer(kFooter);
  command->add_flag("--json", options->json, "Print JSON, errors too")->group("General");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace terrazzo::cli
