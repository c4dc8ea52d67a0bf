// SPDX-License-Identifier: Apache-2.0
//
// Telling people, or scripts, what went wrong.
#pragma once

#include "terrazzo/error.hpp"

#include <nlohmann/json_fwd.hpp>

#include <functional>

namespace terrazzo::cli {

// {"kind", "message", "file", "ifd", "tag", "tile", "offset"}; what is not known is null.
[[nodiscard]] nlohmann::ordered_json error_to_json(Error const& error);

// On stderr: a line and a hint, or {"error": {...}} in one line.
void print_error(Error const& error, bool json);

// Runs the command and turns whatever it throws into a message and an exit code.
[[nodiscard]] int run_guarded(std::function<int()> const& command, bool json);

}  // namespace terrazzo::cli
