// SPDX-License-Identifier: Apache-2.0
#include "base/settings.hpp"
#include "base/text.hpp"
#include "terrazzo/error.hpp"
#include "terrazzo/write.hpp"
#include "tile/view_strides.hpp"
#include "write/host/block_encoder.hpp"
#include "write/plan/file_plan.hpp"
#include "write/plan/lossy_notes.hpp"

#include <algorithm>
#include <utility>

namespace terrazzo {

using namespace writing;

EncodedTiles encode_tiles(ConstHostView const& pixels, TileId first, std::uint32_t width, std::uint32_t height,
                          WriteOptions const& options) {
  auto const refuse = [](std::string message) { throw Error(ErrorKind::usage, std::move(message)); };
  FilePlan plan = plan_file(width, height, options);
  if (plan.levels.size() > 1 || options.mask || options.statistics || options.cog) {
    refuse("tiles are encoded for a plain file: no COG, overviews, mask or statistics");
  }
  LevelPlan const raster = plan.levels.front();
  if (first.plane != 0) { refuse("the view holds every band: begin with plane 0"); }
  if (first.column >= raster.blocks_across || first.row >= raster.blocks_down) {
    refuse("the first tile is outside the raster");
  }
  std::uint64_t const column = std::uint64_t{first.column} * raster.block_width;
  std::uint64_t const row = std::uint64_t{first.row} * raster.block_height;
  bool const columns_fit = pixels.width % raster.block_width == 0 || column + pixels.width == width;
  bool const rows_fit = pixels.height % raster.block_height == 0 || row + pixels.height == height;
  if (pixels.width == 0 || pixels.height == 0 || !columns_fit || !rows_fit || column + pixels.width > width ||
      row + pixels.height > height) {
    refuse(text("the view of ", pixels.width, " x ", pixels.height, " is not made of whole tiles of the raster"));
  }
  if (pixels.bands != options.bands || pixels.dtype != options.dtype) {
    refuse("the view has other bands or samples than the options");
  }

  note_blurred_validity(plan);

  // The view as a separate raster: its edge is an edge of the raster, or of a tile.
  LevelPlan& part = plan.levels.front();
  part.width = pixels.width;
  part.height = pixels.height;
  part.blocks_across = (pixels.width + part.block_width - 1) / part.block_width;
  part.blocks_down = (pixels.height + part.block_height - 1) / part.block_height;
  ConstHostRows rows;
  rows.pixels = tile::with_strides(pixels);
  std::vector<HostBlockJob> jobs;
  for (std::uint32_t plane = 0; plane < plan.planes; ++plane) {
    for (std::uint32_t y = 0; y < part.blocks_down; ++y) {
      for (std::uint32_t x = 0; x < part.blocks_across; ++x) { jobs.push_back({0, {x, y, plane}, &rows}); }
    }
  }
  EncodedTiles result;
  BlockEncoder encoder(plan, resolve_threads(options.threads));
  encoder.run(jobs, options.cancel, [&](HostBlockJob const& job, BlockResult const& block) {
    result.tiles.push_back({{first.column + job.id.column, first.row + job.id.row, job.id.plane},
                            result.buffer.size(),
                            block.image.size()});
    result.buffer.insert(result.buffer.end(), block.image.begin(), block.image.end());
    if (options.progress && !options.progress(result.tiles.size(), jobs.size())) {
      throw Error(ErrorKind::cancelled, "the encoding was cancelled");
    }
  });
  return result;
}

}  // namespace terrazzo
