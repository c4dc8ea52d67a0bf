// SPDX-License-Identifier: Apache-2.0
//
// Makes the rows of a mosaic, band of rows by band of rows: reads the inputs of a band in parallel, and composes them
// in their order.
#pragma once

#include "base/memory_budget.hpp"
#include "ops/mosaic/canvas.hpp"
#include "ops/mosaic/nodata_collisions.hpp"
#include "ops/mosaic/open_files.hpp"
#include "ops/mosaic/piece_reader.hpp"
#include "ops/mosaic/pieces.hpp"
#include "ops/mosaic/plan.hpp"
#include "terrazzo/write.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace terrazzo::ops {

// The layout of rows for a file with these options.
[[nodiscard]] PixelFormat pixel_format(MosaicPlan::Impl const& plan, WriteOptions const& options);

// Rows are made from top to bottom, one call at a time. The arguments outlive the object.
class RowComposer {
 public:
  // Patches of inputs that overlap take about `patch_bytes`, at least one patch.
  RowComposer(MosaicPlan::Impl const& plan, WriteOptions const& options, std::uint64_t patch_bytes,
              MemoryBudget& budget);

  // Makes rows [first, first + rows) in the first rows of the canvas. Plane 0 of its validity is the mask of the rows
  // if the options ask for a mask, and has no meaning otherwise. Adds to the report.
  void compose(std::uint32_t first, std::uint32_t rows, Canvas& canvas, ReadReport& report);

  // The first input with a valid sample, in the rows made so far, that equals the mosaic's nodata value.
  [[nodiscard]] std::optional<std::uint32_t> input_that_equals_nodata() const noexcept {
    return collisions_.first_input();
  }

 private:
  struct Job;

  [[nodiscard]] bool reads_into_rows(Piece const& piece) const;
  [[nodiscard]] std::vector<Job> next_jobs(std::span<Piece const>& left, std::uint32_t first, Canvas& canvas) const;
  void read(std::span<Job> jobs, std::uint32_t first, Canvas& canvas, ReadReport& report);
  void compose(std::span<Job> jobs, std::uint32_t first, std::uint32_t rows, Canvas& canvas) const;

  MosaicPlan::Impl const& plan_;
  WriteOptions const& options_;
  std::uint64_t patch_bytes_;
  MemoryBudget& budget_;
  PixelFormat format_;
  unsigned threads_, files_at_once_;
  std::array<std::byte, 16> fill_{};
  PieceSweep sweep_;
  OpenFiles files_;
  PieceReader reader_;
  NodataCollisions collisions_;
};

}  // namespace terrazzo::ops
