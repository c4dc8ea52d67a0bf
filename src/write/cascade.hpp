// SPDX-License-Identifier: Apache-2.0
//
// Overviews made from rows as they pass: rows of the raster come in, rows of every overview are made from the level
// before it as soon as they can be, and blocks whose rows are all there are named, in an order that depends on the
// raster's size alone. Only rows that are still needed are kept: about two block rows a level.
#pragma once

#include "write/file_plan.hpp"
#include "write/reduce.hpp"
#include "write/row_engine.hpp"
#include "write/row_window.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace terrazzo::writing {

class Cascade {
 public:
  // Plan and engine outlive the cascade. Parts of up to `room` rows fit what the windows hold from the first.
  Cascade(FilePlan const& plan, RowEngine& engine, std::uint32_t room);

  // The next rows of the raster, in the engine's memory: whole block rows, or the rest. The engine gets the blocks that
  // are complete now.
  void advance(LevelRows const& rows);

 private:
  struct Overview {
    Reduction reduction;
    RowWindow window;
    std::size_t source;  // level it is made from
    std::uint32_t next_row = 0;  // to be made
    std::uint32_t next_block_row = 0;  // to be encoded
    std::uint32_t planned_row = 0;  // rows that are there once the blocks named so far are
    LevelRows rows{};  // of the window
  };
  [[nodiscard]] LevelPlan const& plan_of(std::size_t level) const { return plan_.levels[level]; }
  [[nodiscard]] std::uint32_t rows_until(Overview const& overview, std::uint32_t height, std::uint32_t from,
                                         std::uint32_t source_end) const;
  void reduce_level(std::size_t level, LevelRows const& raster);
  void keep_tail(LevelRows const& raster);
  void name_block_row(std::size_t level, std::uint32_t block_row, LevelRows const& rows);
  void name_blocks(LevelRows const& raster);
  void drop_rows();

  FilePlan const& plan_;
  RowEngine& engine_;
  std::vector<Overview> overviews_;  // of levels 1, 2, ...
  RowWindow tail_;  // rows of the raster that the next rows of overviews still need
  std::vector<BlockJob> jobs_;
};

// The steps from level to level, of overviews 1, 2, ...
[[nodiscard]] std::vector<ReductionSpec> reduction_specs(FilePlan const& plan);

// Rows that the window of overview `level` needs room for, when the raster comes in parts of at most `rows`.
[[nodiscard]] std::uint32_t window_rows(FilePlan const& plan, std::size_t level, std::uint32_t rows);

// Rows [first, last) of `rows`.
[[nodiscard]] LevelRows rows_between(LevelRows const& rows, std::uint32_t first, std::uint32_t last) noexcept;

}  // namespace terrazzo::writing
