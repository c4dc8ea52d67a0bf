// SPDX-License-Identifier: Apache-2.0
//
// Error messages for people and scripts.
#pragma once

#include "terrazzo/error.hpp"
#include "terrazzo/read.hpp"

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <string>
#include <vector>

namespace terrazzo::cli {

// {"kind", "message", "file", "ifd", "tag", "tile", "offset"}; unknown values are null.
[[nodiscard]] nlohmann::ordered_json error_to_json(Error const& error);

// On stderr: a line and a hint, or {"error": {...}} in one line.
void print_error(Error const& error, bool json);

// Tiles that --fill-bad filled: [{"column", "row", "plane", "kind", "message"}].
[[nodiscard]] nlohmann::ordered_json bad_tiles_to_json(std::vector<BadTileReport> const& bad_tiles);

// One of them as text: "tile 3,4: the block ends early".
[[nodiscard]] std::string bad_tile_to_text(BadTileReport const& bad);

// Prints a line on stderr if there are any.
void warn_of_bad_tiles(std::string const& file, std::vector<BadTileReport> const& bad_tiles);

// Runs the command and turns exceptions into a message and an exit code.
[[nodiscard]] int run_guarded(std::function<int()> const& command, bool json);

}  // namespace terrazzo::cli
