// SPDX-License-Identifier: Apache-2.0
//
// Makes overviews while rows arrive. Each row of an overview is made from the previous level as soon as possible.
// Complete blocks are passed on in an order that depends only on the raster's size. Only rows that are still needed are
// kept: about two block rows per level.
#pragma once

#include "write/overviews/reduction.hpp"
#include "write/plan/file_plan.hpp"
#include "write/row_engine.hpp"
#include "write/row_window.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace terrazzo::writing {

template <MemoryKind kind>
class Cascade {
 public:
  // Plan and engine outlive the cascade. The windows' first allocation suffices for parts of up to `room` rows.
  Cascade(FilePlan const& plan, RowEngine<kind>& engine, std::uint32_t room);

  // Takes the next rows of the raster, in the engine's memory: whole block rows, or the rest. Passes the blocks that
  // are now complete to the engine.
  void advance(ConstRows<kind> const& rows);

 private:
  struct Overview {
    Reduction reduction;
    RowWindow<kind> window;
    std::size_t source;  // index of its source level
    std::uint32_t next_row = 0;  // next row to make
    std::uint32_t next_block_row = 0;  // next block row to encode
    std::uint32_t planned_row = 0;  // rows that exist once the blocks planned so far are made
    ConstRows<kind> rows{};  // rows in the window
  };
  [[nodiscard]] LevelPlan const& plan_of(std::size_t level) const { return plan_.levels[level]; }
  [[nodiscard]] std::uint32_t rows_until(Overview const& overview, std::uint32_t height, std::uint32_t from,
                                         std::uint32_t source_end) const;
  void reduce_level(std::size_t level, ConstRows<kind> const& raster);
  void keep_tail(ConstRows<kind> const& raster);
  void name_block_row(std::size_t level, std::uint32_t block_row, ConstRows<kind> const& rows);
  void name_blocks(ConstRows<kind> const& raster);
  void drop_rows();

  FilePlan const& plan_;
  RowEngine<kind>& engine_;
  std::vector<Overview> overviews_;  // levels 1, 2, ...
  RowWindow<kind> tail_;  // rows of the raster that the next rows of overviews still need
  std::vector<BlockJob<kind>> jobs_;
};

extern template class Cascade<MemoryKind::host>;
extern template class Cascade<MemoryKind::device>;

// The reduction steps of overviews 1, 2, ...
[[nodiscard]] std::vector<ReductionSpec> reduction_specs(FilePlan const& plan);

// The number of rows for which the window of overview `level` needs room, if the raster comes in parts of at most
// `rows`.
[[nodiscard]] std::uint32_t window_rows(FilePlan const& plan, std::size_t level, std::uint32_t rows);

}  // namespace terrazzo::writing
