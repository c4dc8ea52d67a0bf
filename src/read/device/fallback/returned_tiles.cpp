// SPDX-License-Identifier: Apache-2.0
#include "read/device/fallback/returned_tiles.hpp"

#include "terrazzo/error.hpp"

namespace terrazzo::reading {

void ReturnedTiles::keep(Level const& level, std::uint64_t offset_bytes, std::span<std::byte const> bytes) {
  auto& source = sources_[&level];
  if (!source) { source = std::make_shared<ReturnedSource>(level.source); }
  try {
    source->keep(offset_bytes, bytes, host_budget_);
  } catch (Error const& error) {
    if (error.kind() != ErrorKind::limit) { throw; }
  }
}

LevelPtr ReturnedTiles::level_for(LevelPtr const& level) const {
  auto const found = sources_.find(level.get());
  return found == sources_.end() ? level : std::make_shared<Level const>(*level, found->second);
}

}  // namespace terrazzo::reading
