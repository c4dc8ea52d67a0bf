// SPDX-License-Identifier: Apache-2.0
//
// Tiles that were uploaded compressed and that the device could not decode. One packed copy per batch brought them
// back, and the host reads them from that copy instead of from the file.
#pragma once

#include "base/memory_budget.hpp"
#include "read/device/fallback/packed_return.hpp"
#include "read/open/level.hpp"

#include <map>
#include <memory>

namespace terrazzo::reading {

// Thread rule: keep() from one thread at a time; level_for() after the last keep().
class ReturnedTiles {
 public:
  explicit ReturnedTiles(MemoryBudget& host_budget) noexcept : host_budget_(host_budget) {}

  // Keeps bytes of the file of `level`, from `offset_bytes` on. If they exceed the host's budget, drops them; the host
  // then reads them from the file.
  void keep(Level const& level, std::uint64_t offset_bytes, std::span<std::byte const> bytes);

  // The level with a source that reads the kept bytes from memory; `level` itself if no bytes were kept.
  [[nodiscard]] LevelPtr level_for(LevelPtr const& level) const;

 private:
  MemoryBudget& host_budget_;
  std::map<Level const*, std::shared_ptr<ReturnedSource>> sources_;
};

}  // namespace terrazzo::reading
