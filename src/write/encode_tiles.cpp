// SPDX-License-Identifier: Apache-2.0
#include "base/checked.hpp"
#include "base/settings.hpp"
#include "base/text.hpp"
#include "terrazzo/error.hpp"
#include "terrazzo/write.hpp"
#include "tile/view_strides.hpp"
#include "write/device/engine.hpp"
#include "write/plan/engine_choice.hpp"
#include "write/plan/file_plan.hpp"
#include "write/plan/lossy_notes.hpp"
#include "write/row_pipeline.hpp"

#include <span>
#include <string>
#include <utility>

namespace terrazzo {

using namespace writing;

namespace {

[[noreturn]] void refuse(std::string message) { throw Error(ErrorKind::usage, std::move(message)); }

// The plan of the part as a raster of its own: its edges are edges of the raster, or of tiles. No overviews: they are
// made by the process that writes the file.
template <MemoryKind kind>
FilePlan plan_of_part(View<kind, void const> const& pixels, TileId first, std::uint32_t width, std::uint32_t height,
                      WriteOptions const& options) {
  if (options.mask) { refuse("tiles are encoded for a file without a mask: mark missing pixels by nodata"); }
  FilePlan plan = plan_file(width, height, options);
  plan.options.cog = plan.options.statistics = false;
  plan.levels.resize(1);
  plan.source_of.clear();
  LevelPlan& part = plan.levels.front();
  if (first.plane != 0) { refuse("the view holds every band: begin with plane 0"); }
  if (first.column >= part.blocks_across || first.row >= part.blocks_down) {
    refuse("the first tile is outside the raster");
  }
  std::uint64_t const column = std::uint64_t{first.column} * part.block_width;
  std::uint64_t const row = std::uint64_t{first.row} * part.block_height;
  bool const columns_fit = pixels.width % part.block_width == 0 || column + pixels.width == width;
  bool const rows_fit = pixels.height % part.block_height == 0 || row + pixels.height == height;
  if (pixels.width == 0 || pixels.height == 0 || !columns_fit || !rows_fit || column + pixels.width > width ||
      row + pixels.height > height) {
    refuse(text("the view of ", pixels.width, " x ", pixels.height, " is not made of whole tiles of the raster"));
  }
  if (pixels.bands != options.bands || pixels.dtype != options.dtype) {
    refuse("the view has other bands or samples than the options");
  }
  part.width = pixels.width;
  part.height = pixels.height;
  part.blocks_across = ceil_div(pixels.width, part.block_width);
  part.blocks_down = ceil_div(pixels.height, part.block_height);
  return plan;
}

template <MemoryKind kind>
EncodedTiles encode(View<kind, void const> const& pixels, TileId first, std::uint32_t width, std::uint32_t height,
                    WriteOptions const& options, StreamView stream) {
  FilePlan const plan = plan_of_part(pixels, first, width, height, options);
  check_engine(plan);
  note_blurred_validity(plan);
  EncodedTiles result;
  auto const collect = [&](std::span<FinishedBlock const> blocks) {
    for (FinishedBlock const& block : blocks) {
      std::span<std::byte const> const bytes = block.result.image;
      result.tiles.push_back({{first.column + block.id.column, first.row + block.id.row, block.id.plane},
                              result.buffer.size(),
                              bytes.size()});
      result.buffer.insert(result.buffer.end(), bytes.begin(), bytes.end());
      if (options.progress && !options.progress(result.tiles.size(), plan.tile_count())) {
        throw Error(ErrorKind::cancelled, "the encoding was cancelled");
      }
    }
  };
  auto const here = choose_device(options.device);
  auto const ignore_sizes = [](std::span<BlockSize const>) {};
  RowPipeline pipeline(plan, resolve_threads(options.threads), collect, ignore_sizes);
  pipeline.take(ConstRows<kind>{0, tile::with_strides(pixels), {}}, stream);
  pipeline.finish();
  return result;
}

}  // namespace

EncodedTiles encode_tiles(ConstHostView const& pixels, TileId first, std::uint32_t width, std::uint32_t height,
                          WriteOptions const& options) {
  return encode(pixels, first, width, height, options, {});
}

EncodedTiles encode_tiles(ConstDeviceView const& pixels, TileId first, std::uint32_t width, std::uint32_t height,
                          WriteOptions const& options, StreamView stream) {
  return encode(pixels, first, width, height, options, stream);
}

}  // namespace terrazzo
