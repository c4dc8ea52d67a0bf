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
      decoded_(plan, *engine_, plan.levels.front().width, 0) {}

std::uint32_t EncodedRows::ready_end() const noexcept {
  LevelPlan const& raster = plan_.levels.front();
  std::uint32_t const wanted = next_row_ + std::min(raster.height - next_row_, share_.gathered);
  std::uint32_t const block_rows = waiting_.complete_until();
  std::uint32_t const complete = block_rows == raster.blocks_down ? raster.height : raster.first_row(block_rows);
  bool const is_memory_short = budget_.used_bytes() > budget_.limit_bytes() / 4;
  return complete >= wanted || is_memory_short ? std::min(complete, wanted) : next_row_;
}

void EncodedRows::add(TileId id, std::span<std::byte const> bytes) {
  waiting_.add(id, bytes);
  LevelPlan const& raster = plan_.levels.front();
  for (std::uint32_t end = ready_end(); end > next_row_; end = ready_end()) {
    decoder_.decode(waiting_, decoded_.append(end - next_row_), plan_.options.cancel);
    cascade_.advance(decoded_.rows());
    decoded_.restart(end);
    next_row_ = end;
    waiting_.drop_before(end == raster.height ? raster.blocks_down : end / raster.block_height);
  }
}

}  // namespace terrazzo::writing
