// SPDX-License-Identifier: Apache-2.0
//
// Telling people, or scripts, what went wrong.
#pragma once

#include "terrazzo/error.hpp"
#include "terrazzo/read.hpp"

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <string>
#include <vector>

namespace terrazzo::cli {

// {"kind", "message", "file", "ifd", "tag", "tile", "offset"}; what is not known is null.
[[nodiscard]] nlohmann::ordered_json error_to_json(Error const& error);

// On stderr: a line and a hint, or {"error": {...}} in one line.
void print_error(Error const& error, bool json);

// Tiles that --fill-bad filled: [{"column", "row", "plane", "kind", "message"}].
[[nodiscard]] nlohmann::ordered_json bad_tiles_to_json(std::vector<BadTileReport> const& bad_tiles);

// One of them for people: "tile 3,4: the block ends early".
[[nodiscard]] std::string bad_tile_to_text(BadTileReport const& bad);

// On stderr, a line when there are any.
void warn_of_bad_tiles(std::string const& file, std::vector<BadTileReport> const& bad_tiles);

// Runs the command and turns whatever it throws into a message and an exit code.
[[nodiscard]] int run_guarded(std::function<int()> const& command, bool json);

}  // namespace terrazzo::cli
