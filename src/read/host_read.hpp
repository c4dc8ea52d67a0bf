// SPDX-License-Identifier: Apache-2.0
//
// What the workers of one read on the host go by. Nothing of it changes while they work.
#pragma once

#include "base/memory_budget.hpp"
#include "read/decode_method.hpp"
#include "read/plan.hpp"
#include "read/raw_pieces.hpp"
#include "terrazzo/read.hpp"

#include <cstdint>
#include <optional>

namespace terrazzo::reading {

struct HostRead {
  // `view` has the plan's bands, size and dtype. All that is given outlives the read.
  HostRead(ReadPlan::Impl const& of, ReadRequest const& asked, HostView const& view, MemoryBudget& memory);

  ReadPlan::Impl const& plan;
  ReadRequest const& request;
  HostView const& destination;
  MemoryBudget& budget;
  DecodeMethod method;
  std::uint64_t cache_limit_bytes;
  std::optional<RawPieces> raw_pieces;  // of blocks that are not compressed: then these are the tasks, else the blocks
  std::uint64_t tasks;
  std::uint64_t tasks_at_once;  // that a worker takes: small blocks share a read, and some are decoded two at a time

  // How many blocks the first `done` tasks make, in whole.
  [[nodiscard]] std::uint64_t blocks_in(std::uint64_t done) const noexcept {
    return raw_pieces ? raw_pieces->blocks_in(done) : done;
  }
};

}  // namespace terrazzo::reading
