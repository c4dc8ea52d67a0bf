// SPDX-License-Identifier: Apache-2.0
//
// One thread's share of a read on the host: takes tasks, reads and decodes their blocks in scratch of its own, has them
// placed, and tells the job what became of them.
#pragma once

#include "read/block_placer.hpp"
#include "read/block_reader.hpp"
#include "read/host_job.hpp"
#include "read/host_read.hpp"
#include "terrazzo/error.hpp"
#include "terrazzo/read.hpp"
#include "tile/tile_batch.hpp"
#include "tile/tile_status.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace terrazzo::reading {

// What a caller can do about a block that is not good. REQUIRES: the status is neither ok nor sparse.
[[nodiscard]] ErrorKind kind_of(tile::TileResult const& result) noexcept;

class HostWorker {
 public:
  HostWorker(HostRead const& read, HostJob& job);

  ~HostWorker();
  HostWorker(HostWorker const&) = delete;
  HostWorker& operator=(HostWorker const&) = delete;

  // Until no task is left. Throws what the progress function throws; what is wrong with the file goes to the job.
  void work();

 private:
  // What a piece takes of one of its blocks.
  struct RawPart : BlockPart {
    std::uint32_t end_row;  // of the block, of all that its pieces take
    bool is_last;  // of its pieces
  };

  [[nodiscard]] BlockPart part_of(std::uint64_t block) const noexcept;
  [[nodiscard]] BlockPart part_of_task(std::uint64_t task) const noexcept { return part_of(read_.block_of(task)); }

  void do_batch(HostJob::Tasks const& tasks);
  // Those of them that are no pieces of kept blocks.
  void do_blocks(HostJob::Tasks const& tasks);
  // False when the cache has not got the block.
  bool place_cached(BlockPart const& part);
  void place_kept(KeptPiece const& piece);
  // One after the other, or two at once.
  void do_fetched(std::span<std::uint64_t const> tasks);
  void do_block(std::uint64_t task, tile::BatchItem const& item);
  [[nodiscard]] bool is_partial(BlockPart const& part) const noexcept;
  // What the reader has decoded.
  void place_block(std::uint64_t task, tile::TileResult const& result);
  // Places the block and has it in the cache from now on. False when it is too large to keep.
  bool keep_in_cache(BlockPart const& part);

  void do_raw_piece(std::uint64_t task, RawPiece const& piece);
  [[nodiscard]] bool reads_into_result(BlockPart const& part) const;
  [[nodiscard]] BlockReader::RowPiece rows_of(RawPart const& part) const noexcept;
  void read_into_result(std::uint64_t task, RawPart const& part);
  void read_and_place(std::uint64_t task);

  // Counts the block (once, whatever its pieces), fills what is missing or bad, tells the job of a failure. Returns how
  // many rows are good, from the block's first on.
  std::uint32_t settle(std::uint64_t task, BlockPart const& part, tile::TileResult const& result,
                       bool is_last_piece = true);
  [[nodiscard]] Error error_of(TileId const& id, ErrorKind kind, std::string message) const;

  HostRead const& read_;
  HostJob& job_;
  ReadPlan::Impl const& plan_;
  tiff::Image const& image_;
  ThreadScratch& scratch_;
  BlockReader reader_;
  BlockPlacer placer_;
  bool takes_two_;  // blocks at once, as long as that does not fail
  std::vector<RawPart> raw_parts_;  // of the piece in hand
  std::vector<tile::TileResult> raw_results_;
  std::vector<std::uint32_t> good_rows_;  // of each, from the piece's first on
  ReadReport found_;
};

}  // namespace terrazzo::reading
