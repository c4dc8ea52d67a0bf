// SPDX-License-Identifier: Apache-2.0
//
// The two lists that say where an image's blocks are, under whichever tags: tiles listed as strips, and strips as
// tiles, are read as libtiff reads them.
#pragma once

#include "base/checked.hpp"
#include "tiff/directory.hpp"

#include <string_view>

namespace terrazzo::tiff {

struct BlockList {
  Entry const* entry = nullptr;  // null: there is none
  bool is_in_file = false;
  std::string_view name{};  // of its tag
};

struct BlockLists {
  BlockList offsets, sizes;

  BlockLists(Directory const& directory, bool tiled) noexcept
      : offsets(find(directory, tiled, {tag::TileOffsets, "TileOffsets"}, {tag::StripOffsets, "StripOffsets"})),
        sizes(find(directory, tiled, {tag::TileByteCounts, "TileByteCounts"},
                   {tag::StripByteCounts, "StripByteCounts"})) {}

 private:
  struct Tag {
    std::uint16_t number;
    std::string_view name;
  };
  static BlockList find(Directory const& directory, bool tiled, Tag of_tiles, Tag of_strips) noexcept {
    Tag const own = tiled ? of_tiles : of_strips, other = tiled ? of_strips : of_tiles;
    Tag const tag = directory.has(own.number) ? own : other;
    Entry const* const entry = directory.find(tag.number);
    if (entry == nullptr) { return {}; }
    return {entry, range_fits(entry->value_offset_bytes, entry->value_bytes, directory.reader().size_bytes()),
            tag.name};
  }
};

}  // namespace terrazzo::tiff
