// SPDX-License-Identifier: Apache-2.0
//
// What the workers of one read on the host go by. Nothing of it changes while they work.
#pragma once

#include "base/memory_budget.hpp"
#include "read/decode_method.hpp"
#include "read/kept_blocks.hpp"
#include "read/plan.hpp"
#include "read/raw_pieces.hpp"
#include "read/result_coverage.hpp"
#include "terrazzo/read.hpp"

#include <cstdint>
#include <optional>

namespace terrazzo::reading {

struct HostRead {
  // `view` has the plan's bands, size and dtype. All that is given outlives the read. With `counts`, what is written
  // to the view is counted.
  HostRead(ReadPlan::Impl const& of, ReadRequest const& asked, HostView const& view, MemoryBudget& memory,
           ResultCoverage* counts = nullptr);

  ReadPlan::Impl const& plan;
  ReadRequest const& request;
  HostView const& destination;
  MemoryBudget& budget;
  ResultCoverage* coverage;  // null: the read is not checked
  DecodeMethod method;
  std::uint64_t cache_limit_bytes;
  // The tasks are the plan's blocks. Of blocks that are not compressed they are pieces; where they are few and the
  // cache has some, the blocks that are missing and after them pieces of the others.
  MemoryBudget::Reservation piece_lists{};
  std::optional<RawPieces> raw_pieces;
  std::optional<KeptBlocks> kept;
  std::uint64_t tasks;
  std::uint64_t kept_from;  // the first task that is a kept piece; `tasks` when none is
  std::uint64_t tasks_at_once;  // that a worker takes: small blocks share a read, and some are decoded two at a time
  unsigned threads;
  bool takes_two;  // blocks at a time
  bool uses_cache;

  // How many blocks the first `done` tasks make, in whole.
  [[nodiscard]] std::uint64_t blocks_in(std::uint64_t done) const noexcept;
  // The block that a task is about, in the plan's order. REQUIRES: no raw pieces.
  [[nodiscard]] std::uint64_t block_of(std::uint64_t task) const noexcept;
  // Null when the task is a block that must be decoded.
  [[nodiscard]] KeptPiece const* kept_piece(std::uint64_t task) const noexcept;

 private:
  void find_kept();
};

}  // namespace terrazzo::reading
