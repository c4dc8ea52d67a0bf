// SPDX-License-Identifier: Apache-2.0
//
// `terrazzo bench write`: how fast the pixels of a file are compressed and written.
#pragma once

#include "commands.hpp"

#include <CLI/CLI.hpp>

namespace terrazzo::cli {

void add_bench_write(CLI::App& bench, Action& action);

}  // namespace terrazzo::cli
