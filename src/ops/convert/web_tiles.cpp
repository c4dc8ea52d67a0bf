// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "ops/convert/band_statistics.hpp"
#include "ops/convert/framed_rows.hpp"
#include "ops/convert/web_tile_grid.hpp"
#include "terrazzo/convert.hpp"
#include "terrazzo/coordinates.hpp"
#include "terrazzo/error.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

namespace terrazzo {
namespace {

constexpr int kWebMercator = 3857;

[[noreturn]] void refuse(Dataset const& source, std::string message) {
  throw Error(ErrorKind::usage, std::move(message), {.source = source.info().source});
}

void check_place(Dataset const& source, Georeference const& georeference) {
  std::optional<Crs> const& crs = georeference.crs;
  if (!crs || crs->epsg != kWebMercator) {
    std::string const own = !crs                 ? "has no CRS"
                            : crs->epsg          ? text("is in EPSG:", *crs->epsg)
                            : !crs->name.empty() ? text("is in ", crs->name)
                                                 : "is in another CRS";
    refuse(source, text("the tiles of web maps are in EPSG:3857, and the raster ", own,
                        ": warp it first, for instance with gdalwarp -t_srs EPSG:3857"));
  }
  auto const& t = source.info().georeference.transform;
  if (!t || t->at(2) != 0 || t->at(4) != 0 || !(t->at(1) > 0) || !(t->at(5) < 0)) {
    refuse(source,
           "the tiles of web maps need a raster with a transform and north up: warp it first, for instance with "
           "gdalwarp -t_srs EPSG:3857");
  }
}

// The pixels of a grid whose middle lies in [begin, end) of the raster's, along one axis. Begins of grid pixels are
// start + i * step.
struct InnerPixels {
  std::uint32_t first = 0, count = 0;
};

InnerPixels pixels_inside(double start, double step, std::uint32_t count, std::uint32_t begin, std::uint64_t end) {
  // The same arithmetic as that of a target grid, which accepts no middle outside.
  auto const middle = [&](std::uint32_t i) { return start + (i + 0.5) * step; };
  auto const limit = static_cast<double>(end);
  auto const guess = [&](double position) {
    return static_cast<std::uint32_t>(std::clamp((position - start) / step - 0.5, 0.0, static_cast<double>(count)));
  };
  std::uint32_t first = guess(begin), last = guess(limit);
  while (first < count && middle(first) < begin) { ++first; }
  while (last > first && middle(last - 1) >= limit) { --last; }
  while (last < count && middle(last) < limit) { ++last; }
  return {first, last > first ? last - first : 0};
}

// The raster's pixel at which a grid begins, if their pixels are the same.
std::optional<std::int64_t> same_pixels(double start, double step, std::uint32_t count) {
  constexpr double kPartOfPixel = 1e-4;  // over the whole raster
  bool const is_same = std::abs(step - 1) * count < kPartOfPixel && std::abs(start - std::round(start)) < kPartOfPixel;
  return is_same ? std::optional(static_cast<std::int64_t>(std::round(start))) : std::nullopt;
}

InnerPixels part_of(std::int64_t start, std::uint32_t count, std::uint32_t begin, std::uint64_t end) {
  std::int64_t const first = std::clamp<std::int64_t>(std::int64_t{begin} - start, 0, count);
  std::int64_t const last = std::clamp<std::int64_t>(static_cast<std::int64_t>(end) - start, first, count);
  return {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(last - first)};
}

bool has_classes(Dataset const& source) {
  return std::ranges::any_of(source.info().bands, [](BandInfo const& band) {
    return !band.color_table.empty() || !band.category_names.empty() || is_complex(band.dtype);
  });
}

}  // namespace

void align_to_web_tiles(Dataset const& source, ConvertSetup& setup, WebTileOptions const& options) {
  ReadRequest& read = setup.read;
  WriteOptions& write = setup.write;
  if (read.has_target() || read.level != 0) {
    refuse(source, "the tiling scheme sets the resolution: a level, target size or target resolution is not for it");
  }
  check_place(source, write.georeference);
  Info const& info = source.info();
  Window const window = plan(source, read).window();  // checks it
  auto const& t = *info.georeference.transform;
  auto const corner = transform_of(info, window);
  BoundingBox const area{corner[0], corner[3] + window.height * t[5], corner[0] + window.width * t[1], corner[3]};
  ops::WebTileGrid grid;
  try {
    grid = ops::web_tile_grid(area, pixel_size(info).x, options);
  } catch (Error const& error) { throw error.located({.source = info.source}); }

  // In pixels of the raster.
  TargetGrid target{.column = (grid.xmin - t[0]) / t[1],
                    .row = (grid.ymax - t[3]) / t[5],
                    .column_step = grid.resolution / t[1],
                    .row_step = grid.resolution / -t[5]};
  std::uint64_t const end_column = std::uint64_t{window.column} + window.width;
  std::uint64_t const end_row = std::uint64_t{window.row} + window.height;
  auto const same_column = same_pixels(target.column, target.column_step, info.width);
  auto const same_row = same_pixels(target.row, target.row_step, info.height);
  bool const is_same = same_column && same_row;
  InnerPixels const columns =
      is_same ? part_of(*same_column, grid.width, window.column, end_column)
              : pixels_inside(target.column, target.column_step, grid.width, window.column, end_column);
  InnerPixels const rows = is_same ? part_of(*same_row, grid.height, window.row, end_row)
                                   : pixels_inside(target.row, target.row_step, grid.height, window.row, end_row);
  if (columns.count == 0 || rows.count == 0) {
    refuse(source, text("the raster is too small for a pixel of zoom level ", grid.zoom_level));
  }
  if (is_same) {
    read.window = Window{static_cast<std::uint32_t>(*same_column + columns.first),
                         static_cast<std::uint32_t>(*same_row + rows.first), columns.count, rows.count};
  } else {
    target.first_column = columns.first;
    target.first_row = rows.first;
    target.width = columns.count;
    target.height = rows.count;
    read.window.reset();
    read.target_grid = target;
    read.resampling = options.resampling.value_or(has_classes(source) ? Resampling::nearest : Resampling::cubic);
    for (BandInfo& band : write.band_info) { ops::drop_statistics(band); }
  }
  setup.margins = {columns.first, rows.first, grid.width - columns.first - columns.count,
                   grid.height - rows.first - rows.count};
  if (setup.margins != Margins{} && !ops::marks_missing_pixels(write)) { write.mask = true; }

  write.cog = true;
  write.tile_size = {options.tile_size, options.tile_size};
  if (!write.overview_factors) { write.overview_factors = ops::web_tile_overviews(grid, options.tile_size); }
  write.georeference.transform = grid.transform();
  write.georeference.gcps.clear();
  write.georeference.rpc.clear();
  MetadataItems& scheme = write.metadata.domains["TILING_SCHEME"];
  scheme = {{"NAME", "GoogleMapsCompatible"}, {"ZOOM_LEVEL", std::to_string(grid.zoom_level)}};
  if (grid.aligned_levels > 0) { scheme.emplace_back("ALIGNED_LEVELS", std::to_string(grid.aligned_levels)); }
}

}  // namespace terrazzo
