// SPDX-License-Identifier: Apache-2.0
//
// What is wrong with a command line that CLI11 refused, in our words: one line that names the trouble and what to type.
#pragma once

#include "terrazzo/error.hpp"

#include <CLI/CLI.hpp>

namespace terrazzo::cli {

// `app` is the one that threw `error` while it parsed. The kind is `usage`.
[[nodiscard]] Error usage_error(CLI::App const& app, CLI::ParseError const& error);

}  // namespace terrazzo::cli
