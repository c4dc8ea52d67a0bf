// SPDX-License-Identifier: Apache-2.0
//
// Finished blocks that a window used only in part, kept for the next window: neighbouring and random windows share
// tiles, and decoding is the main cost of a read. One cache per process; the least recently used block is dropped
// first. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace terrazzo::reading {

struct CacheKey {
  std::uint64_t level_id = 0;
  std::uint64_t block = 0;
  friend bool operator==(CacheKey const&, CacheKey const&) = default;
};

// A finished block: rows of native samples, with the block's width.
class CachedBlock {
 public:
  explicit CachedBlock(std::size_t bytes) : bytes_(bytes), data_(new std::byte[bytes]) {}  // left uninitialised
  [[nodiscard]] std::byte* data() noexcept { return data_.get(); }
  [[nodiscard]] std::byte const* data() const noexcept { return data_.get(); }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return bytes_; }

 private:
  std::size_t bytes_;
  std::unique_ptr<std::byte[]> data_;
};

class TileCache {
 public:
  // False for blocks that would displace too many others.
  [[nodiscard]] static bool keeps(std::size_t bytes, std::uint64_t limit_bytes) noexcept {
    return bytes <= limit_bytes / 8;
  }

  // Null when it is not there.
  [[nodiscard]] std::shared_ptr<CachedBlock const> find(CacheKey const& key);

  // Returns a block to be filled and inserted. Reuses a dropped block of the same size if there is one: its memory is
  // already mapped, so writing to it causes no page faults.
  [[nodiscard]] std::shared_ptr<CachedBlock> make_block(std::size_t bytes);

  // Drops the oldest blocks until the new one fits `limit_bytes`; does not keep a block larger than that.
  void insert(CacheKey const& key, std::shared_ptr<CachedBlock> block, std::uint64_t limit_bytes);

  // Drops the blocks of a closed dataset's level and keeps their memory for reuse. The time depends on the number of
  // cached blocks of this level only.
  void forget_level(std::uint64_t level_id);

  [[nodiscard]] std::uint64_t used_bytes() const;
  [[nodiscard]] std::uint64_t spare_bytes() const;  // bytes of dropped blocks; both together stay within the limit
  // The number of blocks that forget_level() has visited since the cache was made.
  [[nodiscard]] std::uint64_t blocks_visited_to_forget() const;

 private:
  struct Hash {
    std::size_t operator()(CacheKey const& key) const noexcept {
      return static_cast<std::size_t>((key.level_id * 0x9E3779B97F4A7C15u) ^ (key.block * 0xC2B2AE3D27D4EB4Fu));
    }
  };
  // The slots of a level are linked, so that they are found without visiting others; a hit does not change the links.
  struct Slot {
    CacheKey key;
    std::shared_ptr<CachedBlock> block;
    Slot* before = nullptr;  // slots of the same level
    Slot* after = nullptr;
  };
  // REQUIRES for all of them: mutex_ is held.
  void drop(std::list<Slot>::iterator slot);
  static void link(Slot& slot, Slot*& first) noexcept;
  void unlink(Slot& slot) noexcept;
  void keep_spare(std::shared_ptr<CachedBlock> block);
  // Frees spares of other sizes than the one in use first.
  void free_spares(std::uint64_t down_to_bytes, std::size_t size_in_use);

  mutable std::mutex mutex_;
  std::list<Slot> slots_;  // front: most recently used
  std::unordered_map<CacheKey, std::list<Slot>::iterator, Hash> places_;
  std::unordered_map<std::uint64_t, Slot*> levels_;  // the first slot of each level with cached blocks
  std::uint64_t used_bytes_ = 0, visited_to_forget_ = 0;
  std::map<std::size_t, std::vector<std::shared_ptr<CachedBlock>>> spares_;  // keyed by size; no list is empty
  std::uint64_t spare_bytes_ = 0, limit_bytes_ = 0;  // the limit of the last insert()
};

// The process's cache; never destroyed, since datasets in static variables may close late.
[[nodiscard]] TileCache& tile_cache();

}  // namespace terrazzo::reading
