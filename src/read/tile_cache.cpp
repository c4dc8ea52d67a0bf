// SPDX-License-Identifier: Apache-2.0
#include "read/tile_cache.hpp"

#include <utility>

namespace terrazzo::reading {

std::shared_ptr<CachedBlock const> TileCache::find(CacheKey const& key) {
  std::lock_guard const lock(mutex_);
  auto const found = places_.find(key);
  if (found == places_.end()) { return nullptr; }
  slots_.splice(slots_.begin(), slots_, found->second);
  return found->second->block;
}

void TileCache::insert(CacheKey const& key, std::shared_ptr<CachedBlock const> block, std::uint64_t limit_bytes) {
  std::uint64_t const bytes = block->size_bytes();
  if (bytes > limit_bytes) { return; }
  std::lock_guard const lock(mutex_);
  if (places_.contains(key)) { return; }  // another thread decoded it too
  while (used_bytes_ + bytes > limit_bytes) { drop_oldest(); }
  slots_.push_front({key, std::move(block)});
  places_.emplace(key, slots_.begin());
  used_bytes_ += bytes;
}

void TileCache::forget_level(std::uint64_t level_id) {
  std::lock_guard const lock(mutex_);
  for (auto slot = slots_.begin(); slot != slots_.end();) {
    if (slot->key.level_id != level_id) {
      ++slot;
      continue;
    }
    used_bytes_ -= slot->block->size_bytes();
    places_.erase(slot->key);
    slot = slots_.erase(slot);
  }
}

std::uint64_t TileCache::used_bytes() const {
  std::lock_guard const lock(mutex_);
  return used_bytes_;
}

void TileCache::drop_oldest() {
  Slot const& oldest = slots_.back();
  used_bytes_ -= oldest.block->size_bytes();
  places_.erase(oldest.key);
  slots_.pop_back();
}

TileCache& tile_cache() {
  static TileCache* const cache = new TileCache;
  return *cache;
}

}  // namespace terrazzo::reading
