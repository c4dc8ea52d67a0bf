// SPDX-License-Identifier: Apache-2.0
//
// The plan of a read, resolved from dataset and request: its blocks, the part of each, and their destinations.
// Immutable; making a plan reads no pixels.
#pragma once

#include "base/memory_budget.hpp"
#include "read/open/dataset.hpp"
#include "read/plan/resample.hpp"
#include "terrazzo/read.hpp"
#include "tile/convert.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace terrazzo {

struct ReadPlan::Impl {
  std::shared_ptr<Dataset::Impl const> dataset;
  reading::LevelPtr level;
  std::uint32_t level_index = 0;
  Window window;                             // in pixels of the level
  Window asked_window;  // as in the request: in pixels of full resolution if the read is resampled
  double grid_width = 0, grid_height = 0;  // size of the part that the result shows, in pixels of asked_window
  std::optional<TargetGrid> placed;  // ReadRequest::target_grid
  std::uint32_t out_width = 0, out_height = 0;
  std::vector<std::uint32_t> bands;  // 1-based, in the order of the request
  DType dtype = DType::u8;  // type of the result
  std::vector<tile::ValueTransform> transforms;  // one per requested band
  std::optional<Nodata> missing;  // value of missing pixels with `masked` or `unpack`; none: NaN
  std::vector<double> fills;  // value of a missing block's pixels, before the transform
  std::string codec_name;
  std::string bad_tile_prefix;  // prefix of messages about filled bad tiles: "mask (IFD 1): "
  std::uint64_t memory_limit_bytes = 0;  // for the result and all scratch
  unsigned threads = 1;
  std::uint32_t blocks_at_once = 1;  // blocks that a thread decodes together, for a codec that is faster with several
  std::uint64_t scratch_bytes_per_thread = 0;

  // For a resampled result: the column and row of the window that is the source of each column and row of the result.
  // Empty if the sizes are equal.
  std::vector<std::uint32_t> source_columns, source_rows;
  // The method of a result that is not made of single pixels; the window has all pixels that it uses.
  std::optional<reading::Filter> filter;

  // The rectangle of blocks that the window touches, and the planes that hold the requested bands.
  std::uint32_t first_block_column = 0, first_block_row = 0, block_columns = 0, block_rows = 0;
  std::vector<std::uint32_t> planes;

  [[nodiscard]] bool resampled() const noexcept { return !source_columns.empty(); }
  [[nodiscard]] std::uint64_t map_bytes() const noexcept {
    return (std::uint64_t{source_columns.size()} + source_rows.size()) * sizeof(std::uint32_t);
  }
  // Uncompressed bytes of the window in these planes, in the stored type.
  [[nodiscard]] std::uint64_t window_bytes() const noexcept;
  [[nodiscard]] std::uint64_t block_count() const noexcept {
    return std::uint64_t{block_columns} * block_rows * planes.size();
  }
  // The index-th block in reading order: planes, then rows, then columns.
  [[nodiscard]] TileId block_id(std::uint64_t index) const noexcept;
  // The index of the block in the tile index.
  [[nodiscard]] std::uint64_t block_number(TileId const& id) const noexcept;
  // The part of the window that the block covers, in pixels of the level.
  [[nodiscard]] Window covered(TileId const& id) const noexcept;
  // The rows and columns of the result that such a part provides.
  struct Target {
    std::uint32_t first_row, rows, first_column, columns;
    [[nodiscard]] bool empty() const noexcept { return rows == 0 || columns == 0; }  // resampling skips some blocks
  };
  [[nodiscard]] Target target_of(Window const& covered_part) const noexcept;
  // Writes the value of a missing pixel of the index-th requested band: a sample of the result's type.
  void fill_sample(std::size_t band_index, std::byte* out) const noexcept;
  // `missing`, converted for samples of any type.
  [[nodiscard]] tile::MissingValue missing_value() const noexcept;
  // The mask image that defines which pixels of the result are valid, or null. As in GDAL, a result of a target size
  // that comes from an overview without a mask uses the mask of full resolution, and a level requested by its number
  // uses its own mask or none. If full resolution has no mask, masks of overviews are ignored; GDAL uses them only if
  // such an overview is opened by its number.
  [[nodiscard]] reading::LevelPtr const& mask_level() const noexcept;
};

namespace reading {

// Decoded bytes of small blocks that share a read: the work that a worker takes at a time. The plan counts it as
// scratch. Large tiles are taken one by one, or blocks_at_once together, which balances well.
[[nodiscard]] inline std::uint64_t batch_bytes(Level const& level) noexcept {
  constexpr std::uint64_t kMostBytes = 64 << 20;  // limits the source's hints: a worker has scratch for it
  return std::min(level.source->hints().batch_bytes, kMostBytes);
}
// Uncompressed blocks are read in pieces of this size, so that one huge strip is read in parallel with little memory.
// Small reads use smaller pieces, down to the size that is worth waking a thread for.
inline constexpr std::uint64_t kRawPieceBytes = 1 << 20, kRawGrainBytes = 128 << 10;

// Throws `usage` for a request that does not fit the dataset, `unsupported` if the blocks cannot be decoded.
[[nodiscard]] std::shared_ptr<ReadPlan::Impl const> make_plan(std::shared_ptr<Dataset::Impl const> dataset,
                                                              ReadRequest const& request);

// The plan for a part of its window and some of its bands (indices into plan.bands). REQUIRES: not resampled, no
// filter.
[[nodiscard]] std::shared_ptr<ReadPlan::Impl const> make_part_plan(ReadPlan::Impl const& plan, Window const& part,
                                                                   std::span<std::size_t const> band_indices);

// The plan for given columns and rows of its window, each counted from the window's first one, in ascending order,
// repeats allowed. REQUIRES: not resampled, no filter.
[[nodiscard]] std::shared_ptr<ReadPlan::Impl const> make_gathered_plan(ReadPlan::Impl const& plan,
                                                                       std::vector<std::uint32_t> columns,
                                                                       std::vector<std::uint32_t> rows);

// Like make_plan, for one band (from 1) of one given level (a mask), without transforms; window, size and maps are
// those of `like`.
[[nodiscard]] std::shared_ptr<ReadPlan::Impl const> make_level_plan(std::shared_ptr<Dataset::Impl const> dataset,
                                                                    LevelPtr level, std::uint32_t band,
                                                                    ReadPlan::Impl like);

}  // namespace reading
}  // namespace terrazzo
