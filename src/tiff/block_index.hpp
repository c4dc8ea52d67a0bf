// SPDX-License-Identifier: Apache-2.0
//
// Position of each block of an image in the file. The two arrays (offsets, byte counts) may have millions of entries:
// only the needed pages are read. Thread-safe.
#pragma once

#include "tiff/directory.hpp"
#include "tiff/image.hpp"

#include <cstdint>
#include <optional>

namespace terrazzo::tiff {

struct BlockRange {
  std::uint64_t offset_bytes = 0;
  std::uint64_t size_bytes = 0;  // 0: the block is not in the file (sparse)
};

class BlockIndex {
 public:
  // Throws `malformed` if the directory has no offsets, or too few for its blocks.
  BlockIndex(Directory const& directory, Image const& image);

  // REQUIRES: block < image.block_count(). Ranges come unchecked from the file and may reach past its end.
  [[nodiscard]] BlockRange range(std::uint64_t block) const;

 private:
  [[nodiscard]] std::uint64_t value(Entry const& entry, std::uint64_t index) const;
  [[nodiscard]] BlockRange estimated(std::uint64_t block, std::uint64_t offset_bytes) const;

  Directory directory_;
  Entry offsets_;
  std::optional<Entry> counts_;   // missing or useless: sizes are estimated
  std::uint64_t block_count_;
  std::uint64_t blocks_per_plane_;
  std::uint32_t blocks_across_;
  // For estimates; 0 if the data are compressed, so that their size is unknown.
  std::uint64_t full_block_bytes_, last_block_bytes_;
};

}  // namespace terrazzo::tiff
