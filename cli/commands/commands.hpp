// SPDX-License-Identifier: Apache-2.0
//
// The subcommands, one file each. add_x() declares the options of `terrazzo x`; after parsing, if the
// command was chosen, `action` runs it and returns the exit code.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>

namespace terrazzo::cli {

using Action = std::function<int()>;

void add_info(CLI::App& app, Action& action);
void add_read(CLI::App& app, Action& action);
void add_plan(CLI::App& app, Action& action);
void add_checksum(CLI::App& app, Action& action);
void add_sample(CLI::App& app, Action& action);
void add_stats(CLI::App& app, Action& action);
void add_preview(CLI::App& app, Action& action);
void add_cog(CLI::App& app, Action& action);
void add_convert(CLI::App& app, Action& action);
void add_mosaic(CLI::App& app, Action& action);
void add_validate(CLI::App& app, Action& action);
void add_overviews(CLI::App& app, Action& action);
void add_edit(CLI::App& app, Action& action);
void add_bench(CLI::App& app, Action& action);
void add_doctor(CLI::App& app, Action& action);
void add_help(CLI::App& app, Action& action);
void add_completion(CLI::App& app, Action& action);
void add_man(CLI::App& app, Action& action);

}  // namespace terrazzo::cli
