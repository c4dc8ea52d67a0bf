// SPDX-License-Identifier: Apache-2.0
//
// Small reads of headers and tags, through a cache of pages, so that parsing a directory costs few requests and
// little traffic. Used while opening and for tile indexes; pixels never pass here. Thread-safe.
#pragma once

#include "base/byte_source.hpp"

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
  // A COG's header and directories usually fit the first 16 KiB, so that much comes with the first read.
  static constexpr std::size_t kPageBytes = 4096;
  static constexpr std::size_t kFirstReadBytes = 16 * 1024;
  static constexpr std::size_t kMaxCachedPages = 256;  // 1 MiB: beyond that, the oldest pages are dropped

  explicit MetadataReader(ByteSourcePtr source);

  // Fills `into`. Throws `malformed` when the range reaches past the end of the source: whoever asks has an offset
  // from the file in hand.
  void read(std::uint64_t offset_bytes, std::span<std::byte> into) const;

  // Fills as much of `into` as the source has and returns how much that is.
  [[nodiscard]] std::size_t read_some(std::uint64_t offset_bytes, std::span<std::byte> into) const;

  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return size_bytes_; }
  [[nodiscard]] ByteSourcePtr const& source() const noexcept { return source_; }

 private:
  using Page = std::vector<std::byte>;
  struct Slot {
    Page bytes;
    std::list<std::uint64_t>::iterator age;
  };

  [[nodiscard]] Page const& page(std::uint64_t index) const;  // REQUIRES: mutex_ held
  void insert(std::uint64_t index, Page bytes) const;         // REQUIRES: mutex_ held

  ByteSourcePtr source_;
  std::uint64_t size_bytes_;
  mutable std::mutex mutex_;
  mutable std::unordered_map<std::uint64_t, Slot> pages_;
  mutable std::list<std::uint64_t> ages_;  // front: most recently used
};

}  // namespace terrazzo::tiff
