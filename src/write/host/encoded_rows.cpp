// SPDX-License-Identifier: Apache-2.0
#include "write/host/encoded_rows.hpp"

#include "base/settings.hpp"
#include "write/host/engine.hpp"

#include <algorithm>
#include <utility>

namespace terrazzo::writing {

EncodedRows::EncodedRows(FilePlan const& plan, unsigned threads, EmitBlocks emit)
    : plan_(plan),
      budget_(resolve_memory_limit(0)),
      waiting_(plan, budget_),
      decoder_(plan, threads, budget_),
      engine_(make_host_engine(plan, threads, std::move(emit), &waiting_)),
      share_(engine_->row_share()),
      cascade_(plan, *engine_, share_.room),
      decoded_(plan, *engine_, plan.levels.front().width, share_.gathered) {}

void EncodedRows::add(TileId id, std::span<std::byte const> bytes) {
  waiting_.add(id, bytes);
  LevelPlan const& raster = plan_.levels.front();
  while (next_row_ < raster.height) {
    // As many rows as the engine wants at a time, so that all threads have work.
    std::uint32_t const end = next_row_ + std::min(raster.height - next_row_, share_.gathered);
    std::uint32_t const end_block_row = end == raster.height ? raster.blocks_down : end / raster.block_height;
    if (waiting_.complete_until() < end_block_row) { return; }
    decoder_.decode(waiting_, decoded_.append(end - next_row_), plan_.options.cancel);
    cascade_.advance(decoded_.rows());
    decoded_.restart(end);
    waiting_.drop_before(end_block_row);
    next_row_ = end;
  }
}

}  // namespace terrazzo::writing
