// SPDX-License-Identifier: Apache-2.0
//
// Tiles that went to the device compressed and could not be decoded there: they came back in one packed copy a batch,
// and the host reads them from that copy instead of from the file.
#pragma once

#include "base/memory_budget.hpp"
#include "read/bring_back.hpp"
#include "read/level.hpp"

#include <map>
#include <memory>

namespace terrazzo::reading {

// Thread rule: keep() from one thread at a time; level_for() once the last tile is kept.
class ReturnedTiles {
 public:
  explicit ReturnedTiles(MemoryBudget& host_budget) noexcept : host_budget_(host_budget) {}

  // Bytes of the file behind `level`, from `offset_bytes` on. Dropped, to be read again, when the host's budget has no
  // room for them.
  void keep(Level const& level, std::uint64_t offset_bytes, std::span<std::byte const> bytes);

  // The level, reading through what came back; `level` itself when nothing did.
  [[nodiscard]] LevelPtr level_for(LevelPtr const& level) const;

 private:
  MemoryBudget& host_budget_;
  std::map<Level const*, std::shared_ptr<ReturnedSource>> sources_;
};

}  // namespace terrazzo::reading
