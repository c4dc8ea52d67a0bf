// SPDX-License-Identifier: Apache-2.0
//
// Options of `cog` for the tiles of web maps: --tiling-scheme, --zoom-level, --aligned-levels.
#pragma once

#include "options/write_options.hpp"

#include "terrazzo/convert.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace terrazzo::cli {

enum class TilingScheme : std::uint8_t { web_mercator };

struct TilingChoices {
  std::optional<TilingScheme> scheme{};
  std::optional<std::uint32_t> zoom_level{};
  std::uint32_t aligned_levels = 0;
};

// GDAL's name, OGC's name or "web-mercator", in any case. Throws `usage` for other schemes.
[[nodiscard]] TilingScheme parse_tiling_scheme(std::string_view name);

void add_tiling(CLI::App& command, TilingChoices& choices);

// With the tile size and the resampling of `write`. Throws `usage` for a tile that is not square.
[[nodiscard]] WebTileOptions web_tiles(TilingChoices const& choices, WriteChoices const& write);

}  // namespace terrazzo::cli
