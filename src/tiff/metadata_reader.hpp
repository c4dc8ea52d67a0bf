// SPDX-License-Identifier: Apache-2.0
//
// Small reads of headers and tags through a cache of pages: parsing a directory takes few requests and
// little traffic. Used for opening and for tile indexes, not for pixels. Thread-safe.
#pragma once

#include "terrazzo/source.hpp"

#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

namespace terrazzo::tiff {

class MetadataReader {
 public:
  // A COG's header and directories usually fit the first 16 KiB, so the first read takes that much.
  static constexpr std::size_t kPageBytes = 4096;
  static constexpr std::size_t kFirstReadBytes = 16 * 1024;
  static constexpr std::size_t kMaxCachedPages = 256;  // 1 MiB: beyond that, the oldest pages are dropped
  static constexpr std::size_t kMaxReadAheadBytes = 512 * 1024;  // half of the cache: a read must not evict its own
                                                                 // pages

  explicit MetadataReader(ByteSourcePtr source);

  // Fills `into`. Throws `malformed` if the range reaches past the end of the source: such offsets come
  // from the file.
  void read(std::uint64_t offset_bytes, std::span<std::byte> into) const;

  // Fills `into` as far as the source reaches, and returns the number of bytes.
  [[nodiscard]] std::size_t read_some(std::uint64_t offset_bytes, std::span<std::byte> into) const;

  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return size_bytes_; }
  [[nodiscard]] ByteSourcePtr const& source() const noexcept { return source_; }

 private:
  using Page = std::vector<std::byte>;
  struct Slot {
    Page bytes;
    std::list<std::uint64_t>::iterator age;
  };

  [[nodiscard]] Page const& page(std::uint64_t index) const;  // REQUIRES: mutex_ is held
  void insert(std::uint64_t index, Page bytes) const;  // REQUIRES: mutex_ is held

  ByteSourcePtr source_;
  std::uint64_t size_bytes_;
  std::size_t read_ahead_bytes_;  // whole pages; SourceHints::read_ahead_bytes
  mutable std::mutex mutex_;
  mutable std::unordered_map<std::uint64_t, Slot> pages_;
  mutable std::list<std::uint64_t> ages_;  // front: most recently used
};

}  // namespace terrazzo::tiff
