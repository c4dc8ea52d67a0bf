// SPDX-License-Identifier: Apache-2.0
//
// `terrazzo bench write`: the speed of compressing and writing the pixels of a file.
#pragma once

#include "commands/commands.hpp"

#include <CLI/CLI.hpp>

namespace terrazzo::cli {

void add_bench_write(CLI::App& bench, Action& action);

}  // namespace terrazzo::cli
