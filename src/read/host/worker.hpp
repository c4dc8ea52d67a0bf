// SPDX-License-Identifier: Apache-2.0
//
// One thread's share of a host read: takes tasks, reads and decodes their blocks in its own scratch, places them, and
// reports failures to the job.
#pragma once

#include "read/blocks/decoded_rows.hpp"
#include "read/blocks/decoder.hpp"
#include "read/blocks/fetcher.hpp"
#include "read/blocks/raw_rows.hpp"
#include "read/blocks/thread_scratch.hpp"
#include "read/host/block_placer.hpp"
#include "read/host/fetch_ahead.hpp"
#include "read/host/read_context.hpp"
#include "read/host/task_queue.hpp"
#include "terrazzo/error.hpp"
#include "terrazzo/read.hpp"
#include "tile/tile_batch.hpp"
#include "tile/tile_status.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace terrazzo::reading {

class HostWorker {
 public:
  HostWorker(ReadContext const& read, TaskQueue& job);

  ~HostWorker();
  HostWorker(HostWorker const&) = delete;
  HostWorker& operator=(HostWorker const&) = delete;

  // Runs until no task is left. Passes on exceptions of the progress function; the job collects errors of the file.
  void work();

 private:
  // The part of one block that a piece takes.
  struct RawPart : BlockPart {
    std::uint32_t end_row;  // end of the block's rows that all its pieces take
    bool is_last;  // true for the last piece of its block
  };

  [[nodiscard]] BlockPart part_of(std::uint64_t block) const noexcept;
  [[nodiscard]] BlockPart part_of_task(std::uint64_t task) const noexcept { return part_of(read_.block_of(task)); }

  // Finds the blocks that must be fetched, and places the cached ones.
  [[nodiscard]] FetchAhead::Batch prepare(TaskQueue::Tasks const& tasks);
  void find_blocks(FetchAhead::Batch& batch);
  void do_batch(FetchAhead::Batch& batch);
  // Handles the tasks of the batch that are not pieces of cached blocks.
  void do_blocks(FetchAhead::Batch& batch);
  // Returns false if the block is not in the cache.
  bool place_cached(BlockPart const& part);
  void place_kept(CachedPiece const& piece);
  void do_fetched(std::span<std::uint64_t const> tasks, tile::TileBatch const& batch);
  void place_block(std::uint64_t task, DecodedBlock const& block);
  // Places the block and inserts it in the cache. Returns false if it is too large to keep.
  bool keep_in_cache(BlockPart const& part, DecodedRows const& decoded);

  void do_raw_piece(std::uint64_t task, RawPiece const& piece);
  [[nodiscard]] bool reads_into_result(BlockPart const& part) const;
  [[nodiscard]] RawRows::Piece rows_of(RawPart const& part) const noexcept;
  void read_into_result(std::uint64_t task, RawPart const& part);
  void read_and_place(std::uint64_t task);

  // Counts the block (once, whatever the number of pieces), fills missing or bad rows, reports a failure to the job.
  // Returns the number of valid rows, from the block's first on.
  std::uint32_t settle(std::uint64_t task, BlockPart const& part, tile::TileResult const& result,
                       bool is_last_piece = true);

  ReadContext const& read_;
  TaskQueue& job_;
  ReadPlan::Impl const& plan_;
  tiff::Image const& image_;
  ThreadScratch& scratch_;
  std::optional<RawRows> raw_;  // for uncompressed blocks; otherwise the two below are used
  std::optional<BlockFetcher> fetcher_;  // for batches that are not submitted ahead
  std::optional<BlockDecoder> decoder_;
  BlockPlacer placer_;
  FetchAhead ahead_;
  std::uint64_t bytes_ahead_ = 0;  // bytes read by batches that were submitted ahead
  std::vector<RawPart> raw_parts_;  // parts of the current piece
  std::vector<tile::TileResult> raw_results_;
  std::vector<std::uint32_t> good_rows_;  // per part, from the piece's first row on
  ReadReport found_;
};

}  // namespace terrazzo::reading
