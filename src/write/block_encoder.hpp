// SPDX-License-Identifier: Apache-2.0
//
// Cuts and encodes a list of blocks on the pool and hands the results over in the list's order, whatever the threads.
// Encoding goes on while a result is handed over; how many wait for their turn is bounded.
#pragma once

#include "base/moments.hpp"
#include "codec/encoder.hpp"
#include "write/block_cutter.hpp"
#include "write/file_plan.hpp"

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace terrazzo::writing {

// Parts of a block that were cut elsewhere, each ready for its encoder; empty: nothing is to be encoded of it.
struct CutParts {
  std::span<std::byte const> image{}, mask{};
};

struct BlockJob {
  std::size_t level = 0;
  TileId id{};
  LevelRows const* rows = nullptr;  // of the level, holding the block's
  CutParts const* parts = nullptr;  // instead of rows; nothing is counted or left out then
};

// One finished block. Empty bytes: sparse.
struct BlockResult {
  std::span<std::byte const> image{};
  std::span<std::byte const> mask{};
  bool has_mask = false;
  std::span<Moments const> moments{};  // of the block's bands, when statistics are wanted and the level is the raster
  std::uint32_t device_tiles = 0;  // how many of image and mask a device encoded
};

class BlockEncoder {
 public:
  BlockEncoder(FilePlan const& plan, unsigned threads);
  ~BlockEncoder();

  // Called in the order of the jobs, never two at a time, from any thread of the pool.
  using Emit = std::function<void(BlockJob const&, BlockResult const&)>;
  // Throws what a codec or `emit` failed with; `cancelled` when the flag is set.
  void run(std::span<BlockJob const> jobs, std::atomic<bool> const* cancel, Emit const& emit);

 private:
  struct Worker;
  struct Slot;
  void encode(BlockJob const& job, Worker& worker, Slot& slot) const;
  void encode_parts(BlockJob const& job, Worker& worker, Slot& slot) const;
  void encode_image(BlockJob const& job, std::span<std::byte const> input, Worker& worker, Slot& slot) const;
  void encode_mask(BlockJob const& job, std::span<std::byte const> bits, Worker& worker, Slot& slot) const;

  FilePlan const& plan_;
  codec::EncodeFormat exact_format_;  // for blocks whose nodata must not change
  BlockCutter cutter_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::unique_ptr<Slot>> slots_;
};

}  // namespace terrazzo::writing
