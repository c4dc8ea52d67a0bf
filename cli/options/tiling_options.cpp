// SPDX-License-Identifier: Apache-2.0
#include "options/tiling_options.hpp"

#include "terrazzo/error.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace terrazzo::cli {
namespace {

constexpr char kTiles[] = "Tiles of web maps";

bool is_same_name(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

}  // namespace

TilingScheme parse_tiling_scheme(std::string_view name) {
  constexpr std::array<std::string_view, 3> kNames = {"GoogleMapsCompatible", "WebMercatorQuad", "web-mercator"};
  if (std::ranges::any_of(kNames, [&](std::string_view known) { return is_same_name(name, known); })) {
    return TilingScheme::web_mercator;
  }
  throw Error(ErrorKind::usage, "--tiling-scheme " + std::string(name) +
                                    ": the scheme is GoogleMapsCompatible (web-mercator); for others, use gdalwarp");
}

void add_tiling(CLI::App& command, TilingChoices& choices) {
  CLI::Option* const scheme =
      command
          .add_option_function<std::string>(
              "--tiling-scheme", [&choices](std::string const& text) { choices.scheme = parse_tiling_scheme(text); },
              "GoogleMapsCompatible (or web-mercator): whole tiles of that scheme, of 256 pixels unless --tile-size is "
              "given, for a raster in EPSG:3857. Pixels outside the raster are nodata, or masked. --resampling: the "
              "method for a raster whose pixels are not those of the zoom level (default: cubic; nearest for palettes)")
          ->type_name("NAME")
          ->group(kTiles);
  command
      .add_option("--zoom-level", choices.zoom_level,
                  "0 to 30. Default: the level whose pixels are nearest in size to those of the raster")
      ->needs(scheme)
      ->type_name("N")
      ->group(kTiles);
  command
      .add_option("--aligned-levels", choices.aligned_levels,
                  "Levels of the file, full resolution included, whose tiles are tiles of the scheme; up to 10. "
                  "Default: full resolution only")
      ->needs(scheme)
      ->type_name("N")
      ->group(kTiles);
}

WebTileOptions web_tiles(TilingChoices const& choices, WriteChoices const& write) {
  WebTileOptions options;
  options.zoom_level = choices.zoom_level;
  options.aligned_levels = choices.aligned_levels;
  options.resampling = write.resampling;
  if (write.tile_size && write.tile_size->width != write.tile_size->height) {
    throw Error(ErrorKind::usage, "--tile-size: the tiles of a tiling scheme are square");
  }
  if (write.tile_size) { options.tile_size = write.tile_size->width; }
  return options;
}

}  // namespace terrazzo::cli
