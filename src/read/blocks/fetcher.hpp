// SPDX-License-Identifier: Apache-2.0
//
// Reads the compressed bytes of blocks of one level, for one thread. A fetcher holds one batch: submit() starts it,
// wait() completes it. For several batches in flight, use several fetchers.
#pragma once

#include "base/memory_budget.hpp"
#include "read/blocks/growing_reservation.hpp"
#include "read/blocks/thread_scratch.hpp"
#include "read/open/level.hpp"
#include "read/plan/decode_method.hpp"
#include "terrazzo/source.hpp"
#include "tile/tile_batch.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace terrazzo::reading {

// The number of batch items per block: the number of planes if a colour needs all planes, otherwise 1.
[[nodiscard]] std::size_t items_per_block(Level const& level, DecodeMethod const& method) noexcept;

class BlockFetcher {
 public:
  // All arguments outlive the fetcher.
  BlockFetcher(Level const& level, DecodeMethod const& method, MemoryBudget& budget, ThreadScratch& scratch);
  ~BlockFetcher();  // waits for the batch in flight
  BlockFetcher(BlockFetcher const&) = delete;
  BlockFetcher& operator=(BlockFetcher const&) = delete;

  // Starts to read the compressed bytes of several blocks into one buffer, with neighbouring ranges merged. Invalidates
  // the previous batch. Throws `limit` if the budget is exceeded. libtiff reads the source itself, so a batch for
  // libtiff has items but no bytes.
  void submit(std::span<std::uint64_t const> blocks);
  // Does the work of submit() if the batch takes at most `most_bytes`; otherwise reads nothing and returns false.
  [[nodiscard]] bool try_submit(std::span<std::uint64_t const> blocks, std::uint64_t most_bytes);
  // Waits for the bytes. Blocks outside the file get a status; a failure of the source throws. The batch has
  // items_per_block() items for each block and is valid until the next submit().
  [[nodiscard]] tile::TileBatch const& wait();

  // submit(), then wait().
  [[nodiscard]] tile::TileBatch const& fetch(std::span<std::uint64_t const> blocks) {
    submit(blocks);
    return wait();
  }

  // The ranges of the last submit().
  [[nodiscard]] std::span<RangeRead const> ranges() const noexcept { return buffers_.ranges; }
  // Bytes of the batch that was submitted and not yet waited for.
  [[nodiscard]] std::uint64_t bytes_in_flight() const noexcept { return buffer_bytes_; }
  // Bytes of all batches that wait() has completed.
  [[nodiscard]] std::uint64_t bytes_read() const noexcept { return bytes_read_; }

 private:
  void add_block(std::uint64_t block);
  // The offset in the buffer at which a range of the source is stored.
  [[nodiscard]] std::size_t place(std::uint64_t offset_bytes, std::uint64_t size_bytes);

  Level const& level_;
  ThreadScratch& scratch_;
  FetchBuffers buffers_;
  GrowingReservation reservation_;
  std::size_t items_per_block_;
  std::uint64_t merge_gap_bytes_;  // SourceHints::merge_gap_bytes
  bool is_borrowed_;  // no bytes are read: the source is in memory, or libtiff reads it
  std::uint64_t buffer_bytes_ = 0;
  std::uint64_t bytes_read_ = 0;
  ReadTicket ticket_{};  // last member: its destructor waits before the buffers are freed
};

}  // namespace terrazzo::reading
