// SPDX-License-Identifier: Apache-2.0
//
// The way of compressed blocks into a file with overviews or statistics. Blocks wait until their rows are complete and
// are decoded, because overviews and statistics need pixels. They are stored as they came, so the file equals the one
// that the rows themselves would give if the codec is lossless.
#pragma once

#include "base/memory_budget.hpp"
#include "write/host/row_decoder.hpp"
#include "write/host/waiting_blocks.hpp"
#include "write/overviews/cascade.hpp"
#include "write/plan/file_plan.hpp"
#include "write/row_engine.hpp"
#include "write/row_window.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace terrazzo::writing {

class EncodedRows {
 public:
  // The plan outlives this object; it has no mask.
  EncodedRows(FilePlan const& plan, unsigned threads, EmitBlocks emit);

  // Takes blocks of the raster in any order, each once. Emits the blocks, with those of overviews, in the order of the
  // file as soon as the rows that the engine takes at a time are complete, or earlier if memory is short.
  void add(TileId id, std::span<std::byte const> bytes);

 private:
  // The end of the rows to process now; next_row_ if there are none.
  [[nodiscard]] std::uint32_t ready_end() const noexcept;

  FilePlan const& plan_;
  MemoryBudget budget_;
  WaitingBlocks waiting_;
  RowDecoder decoder_;
  std::unique_ptr<RowEngine<MemoryKind::host>> engine_;
  RowShare share_;
  Cascade<MemoryKind::host> cascade_;
  RowWindow<MemoryKind::host> decoded_;
  std::uint32_t next_row_ = 0;
};

}  // namespace terrazzo::writing
