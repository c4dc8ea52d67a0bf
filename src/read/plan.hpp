// SPDX-License-Identifier: Apache-2.0
//
// What a read will do, resolved from dataset and request: which blocks, which part of each, where it goes.
// Immutable; no pixel is touched to make one.
#pragma once

#include "base/memory_budget.hpp"
#include "read/dataset.hpp"
#include "terrazzo/read.hpp"
#include "tile/convert.hpp"

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
  std::uint32_t out_width = 0, out_height = 0;
  std::vector<std::uint32_t> bands;          // 1-based, as asked
  DType dtype = DType::u8;                   // of the result
  std::vector<tile::ValueTransform> transforms;  // one per requested band
  std::optional<Nodata> missing;             // what missing pixels become with `masked` or `unpack`; none: NaN
  std::vector<double> fills;                 // what a missing block's pixels become, before the transform
  std::string codec_name;
  std::uint64_t memory_limit_bytes = 0;      // for the result and all that is needed to make it
  unsigned threads = 1;
  bool takes_two = false;                    // blocks at a time, for a codec that may be faster so
  std::uint64_t scratch_bytes_per_thread = 0;

  // For a result of another size than the window: the column and row of the window behind each of its own. Empty when
  // the sizes are equal.
  std::vector<std::uint32_t> source_columns, source_rows;

  // The rectangle of blocks that the window touches, and the planes that hold the requested bands.
  std::uint32_t first_block_column = 0, first_block_row = 0, block_columns = 0, block_rows = 0;
  std::vector<std::uint32_t> planes;

  [[nodiscard]] bool resampled() const noexcept { return !source_columns.empty(); }
  [[nodiscard]] std::uint64_t map_bytes() const noexcept {
    return (std::uint64_t{source_columns.size()} + source_rows.size()) * sizeof(std::uint32_t);
  }
  // What the window takes of the planes, as it is stored but for compression.
  [[nodiscard]] std::uint64_t window_bytes() const noexcept;
  [[nodiscard]] std::uint64_t block_count() const noexcept {
    return std::uint64_t{block_columns} * block_rows * planes.size();
  }
  // The index-th block in reading order: planes, then rows, then columns.
  [[nodiscard]] TileId block_id(std::uint64_t index) const noexcept;
  // Its place in the tile index.
  [[nodiscard]] std::uint64_t block_number(TileId const& id) const noexcept;
  // The part of the window that the block covers, in pixels of the level.
  [[nodiscard]] Window covered(TileId const& id) const noexcept;
  // The rows and columns of the result that such a part feeds.
  struct Target {
    std::uint32_t first_row, rows, first_column, columns;
    [[nodiscard]] bool empty() const noexcept { return rows == 0 || columns == 0; }  // resampling skips some blocks
  };
  [[nodiscard]] Target target_of(Window const& covered_part) const noexcept;
  // What a pixel of the index-th requested band becomes where the file has none: a sample of the result's type.
  void fill_sample(std::size_t band_index, std::byte* out) const noexcept;
  // `missing` for samples of any type.
  [[nodiscard]] tile::MissingValue missing_value() const noexcept;
  // The mask image that says which pixels of the result are valid, null when there is none. As in GDAL, a result of a
  // target size that comes from an overview without a mask has the mask of full resolution, and a level asked for by
  // its number has its own or none. Where full resolution has none, those of overviews count for nothing: in GDAL they
  // do for who opens such an overview by its number.
  [[nodiscard]] reading::LevelPtr const& mask_level() const noexcept;
};

namespace reading {

// What a worker takes at a time; the plan counts it as scratch, the engine works by it.
// Decoded bytes of small blocks that share a read; large tiles come one by one, or two by two (takes_two), which
// balances well.
inline constexpr std::uint64_t kBatchBytes = 256 * 1024;
// Blocks that are not compressed are read in pieces of this size, so that one huge strip is parallel and small; where
// there is little to read, in smaller ones, for which a thread is just worth waking.
inline constexpr std::uint64_t kRawPieceBytes = 1 << 20, kRawGrainBytes = 128 << 10;

// Throws `usage` for a request that does not fit the dataset, `unsupported` when the blocks cannot be decoded.
[[nodiscard]] std::shared_ptr<ReadPlan::Impl const> make_plan(std::shared_ptr<Dataset::Impl const> dataset,
                                                              ReadRequest const& request);

// The same read of a part of its window and of some of its bands (indices into plan.bands). REQUIRES: not resampled.
[[nodiscard]] std::shared_ptr<ReadPlan::Impl const> make_part_plan(ReadPlan::Impl const& plan, Window const& part,
                                                                   std::span<std::size_t const> band_indices);

// Like make_plan, of one band (from 1) of one given level (a mask), with no transforms; the window, the size and the
// maps of `like`.
[[nodiscard]] std::shared_ptr<ReadPlan::Impl const> make_level_plan(std::shared_ptr<Dataset::Impl const> dataset,
                                                                    LevelPtr level, std::uint32_t band,
                                                                    ReadPlan::Impl like);

}  // namespace reading
}  // namespace terrazzo
