// SPDX-License-Identifier: Apache-2.0
#include "read/host/tile_cache.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace terrazzo::reading {

std::shared_ptr<CachedBlock const> TileCache::find(CacheKey const& key) {
  std::lock_guard const lock(mutex_);
  auto const found = places_.find(key);
  if (found == places_.end()) { return nullptr; }
  slots_.splice(slots_.begin(), slots_, found->second);
  return found->second->block;
}

std::shared_ptr<CachedBlock> TileCache::make_block(std::size_t bytes) {
  {
    std::lock_guard const lock(mutex_);
    if (auto const of_size = spares_.find(bytes); of_size != spares_.end()) {
      std::shared_ptr<CachedBlock> block = std::move(of_size->second.back());
      of_size->second.pop_back();
      if (of_size->second.empty()) { spares_.erase(of_size); }
      spare_bytes_ -= bytes;
      return block;
    }
  }
  return std::make_shared<CachedBlock>(bytes);
}

void TileCache::insert(CacheKey const& key, std::shared_ptr<CachedBlock> block, std::uint64_t limit_bytes) {
  std::uint64_t const bytes = block->size_bytes();
  if (bytes > limit_bytes) { return; }
  std::lock_guard const lock(mutex_);
  limit_bytes_ = limit_bytes;
  if (places_.contains(key)) { return; }  // another thread decoded it too
  while (used_bytes_ + bytes > limit_bytes) { drop(std::prev(slots_.end())); }
  // All allocations that may fail come before the first change.
  std::list<Slot> one;
  one.push_front({key, std::move(block)});
  Slot*& first_of_level = levels_[key.level_id];
  places_.emplace(key, one.begin());
  slots_.splice(slots_.begin(), one);
  link(slots_.front(), first_of_level);
  used_bytes_ += bytes;
  free_spares(limit_bytes - used_bytes_, bytes);
}

void TileCache::forget_level(std::uint64_t level_id) {
  std::lock_guard const lock(mutex_);
  auto const level = levels_.find(level_id);
  Slot const* slot = level == levels_.end() ? nullptr : level->second;
  while (slot != nullptr) {
    Slot const* const next = slot->after;
    drop(places_.find(slot->key)->second);
    slot = next;
    ++visited_to_forget_;
  }
}

std::uint64_t TileCache::blocks_visited_to_forget() const {
  std::lock_guard const lock(mutex_);
  return visited_to_forget_;
}

void TileCache::link(Slot& slot, Slot*& first) noexcept {
  slot.after = first;
  if (first != nullptr) { first->before = &slot; }
  first = &slot;
}

void TileCache::unlink(Slot& slot) noexcept {
  if (slot.after != nullptr) { slot.after->before = slot.before; }
  if (slot.before != nullptr) {
    slot.before->after = slot.after;
  } else if (slot.after != nullptr) {
    levels_.find(slot.key.level_id)->second = slot.after;
  } else {
    levels_.erase(slot.key.level_id);
  }
}

std::uint64_t TileCache::used_bytes() const {
  std::lock_guard const lock(mutex_);
  return used_bytes_;
}

std::uint64_t TileCache::spare_bytes() const {
  std::lock_guard const lock(mutex_);
  return spare_bytes_;
}

void TileCache::drop(std::list<Slot>::iterator slot) {
  std::shared_ptr<CachedBlock> block = std::move(slot->block);
  used_bytes_ -= block->size_bytes();
  unlink(*slot);
  places_.erase(slot->key);
  slots_.erase(slot);
  keep_spare(std::move(block));
}

void TileCache::keep_spare(std::shared_ptr<CachedBlock> block) {
  if (block.use_count() != 1) { return; }  // still in use by a reader; no other reader can get it
  // Orders the last reader's accesses before those of the next owner: releasing a copy synchronizes with the readers.
  std::shared_ptr<CachedBlock>(block).reset();
  std::size_t const bytes = block->size_bytes();
  spare_bytes_ += bytes;
  spares_[bytes].push_back(std::move(block));
  free_spares(limit_bytes_ - std::min(limit_bytes_, used_bytes_), bytes);
}

void TileCache::free_spares(std::uint64_t down_to_bytes, std::size_t size_in_use) {
  while (spare_bytes_ > down_to_bytes) {
    auto of_size = spares_.begin();
    if (of_size->first == size_in_use && spares_.size() > 1) { ++of_size; }
    spare_bytes_ -= of_size->first;
    of_size->second.pop_back();
    if (of_size->second.empty()) { spares_.erase(of_size); }
  }
}

TileCache& tile_cache() {
  static TileCache* const cache = new TileCache;
  return *cache;
}

}  // namespace terrazzo::reading
