// SPDX-License-Identifier: Apache-2.0
//
// Decodes blocks that were compressed for a new file back to rows of its raster. The format is the file's own plan:
// little-endian samples of whole bytes. (Files of others are decoded in read/.)
#pragma once

#include "base/memory_budget.hpp"
#include "base/scratch.hpp"
#include "codec/registry/codec.hpp"
#include "write/host/block_cutter.hpp"
#include "write/host/waiting_blocks.hpp"
#include "write/overviews/reduction.hpp"
#include "write/plan/file_plan.hpp"

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace terrazzo::writing {

class RowDecoder {
 public:
  // Plan and budget outlive the decoder. Throws `unsupported` if this build cannot decode the plan's codec, and `limit`
  // if the budget does not suffice for one block.
  RowDecoder(FilePlan const& plan, unsigned threads, MemoryBudget& budget);
  ~RowDecoder();

  // Fills whole block rows of the raster, stored as in a RowWindow. An empty block is filled as readers fill it. Throws
  // `malformed` with the tile if a block does not decode, and `cancelled` if the flag is set.
  void decode(WaitingBlocks const& blocks, HostRows const& rows, std::atomic<bool> const* cancel);

 private:
  struct Worker;
  // The memory of the block's first pixel in `rows`.
  [[nodiscard]] std::byte* place_of(TileId id, HostRows const& rows) const noexcept;
  void decode_block(TileId id, std::span<std::byte const> bytes, HostRows const& rows, Worker& worker) const;
  void fill_block(TileId id, HostRows const& rows) const noexcept;
  // Undoes the predictor. `decoded` is overwritten; `out` has the width of a block.
  void finish_row(std::byte* decoded, std::byte* out) const noexcept;

  FilePlan const& plan_;
  BlockCutter cutter_;
  codec::Codec const* codec_;
  std::vector<std::byte> jpeg_tables_;
  codec::BlockFormat format_;
  std::size_t pixel_bytes_, block_row_bytes_;  // in a block
  MemoryBudget& budget_;
  MemoryBudget::Reservation scratch_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace terrazzo::writing
