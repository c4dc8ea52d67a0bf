// SPDX-License-Identifier: Apache-2.0
//
// The parameters that the workers of one host read share. They are constant while the workers run.
#pragma once

#include "base/memory_budget.hpp"
#include "read/host/cache_hits.hpp"
#include "read/host/raw_pieces.hpp"
#include "read/plan/decode_method.hpp"
#include "read/plan/plan.hpp"
#include "read/result_coverage.hpp"
#include "terrazzo/read.hpp"

#include <cstdint>
#include <optional>

namespace terrazzo::reading {

struct ReadContext {
  // `view` has the plan's bands, size and dtype. All arguments outlive the read. With `counts`, pixels written to the
  // view are counted.
  ReadContext(ReadPlan::Impl const& of, ReadRequest const& asked, HostView const& view, MemoryBudget& memory,
              ResultCoverage* counts = nullptr);

  ReadPlan::Impl const& plan;
  ReadRequest const& request;
  HostView const& destination;
  MemoryBudget& budget;
  ResultCoverage* coverage;  // null: the read is not checked
  DecodeMethod method;
  std::uint64_t cache_limit_bytes;
  // A task is a block of the plan. For uncompressed blocks, a task is a piece. In a small read with cached blocks, the
  // first tasks are the missing blocks and the last tasks are pieces of cached blocks.
  MemoryBudget::Reservation piece_lists{};
  std::optional<RawPieces> raw_pieces;
  std::optional<CacheHits> kept;
  std::uint64_t tasks;
  std::uint64_t cached_from;  // the first task that is a cached piece; `tasks` if there is none
  std::uint64_t tasks_at_once;  // tasks per turn of a worker: small blocks share a read, some codecs take several
  unsigned threads;
  std::uint32_t blocks_at_once;  // blocks that a worker decodes together, if the codec supports it
  bool uses_cache;
  // Per worker: requests in flight after the current batch, and the memory for them. 0: the read does not fetch ahead.
  std::uint64_t requests_ahead;
  std::uint64_t ahead_bytes;

  // The number of blocks that are complete after the first `done` tasks.
  [[nodiscard]] std::uint64_t blocks_in(std::uint64_t done) const noexcept;
  // The block of a task, in the plan's order. REQUIRES: no raw pieces.
  [[nodiscard]] std::uint64_t block_of(std::uint64_t task) const noexcept;
  // Null if the task is a block that must be decoded.
  [[nodiscard]] CachedPiece const* cached_piece(std::uint64_t task) const noexcept;

 private:
  void find_cached();
  void choose_ahead() noexcept;
};

}  // namespace terrazzo::reading
