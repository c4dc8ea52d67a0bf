// SPDX-License-Identifier: Apache-2.0
//
// The lists of an image's block offsets and byte counts. Tiles listed under strip tags, and strips listed under tile
// tags, are accepted, as in libtiff.
#pragma once

#include "base/checked.hpp"
#include "tiff/directory.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace terrazzo::tiff {

// Value `index` of an entry that lies in the file and has an unsigned type; 0 past its count. Throws `io`.
[[nodiscard]] inline std::uint64_t listed_value(Directory const& directory, Entry const& entry, std::uint64_t index) {
  if (index >= entry.count) { return 0; }
  std::size_t const item_bytes = field_type_bytes(entry.type);
  std::array<std::byte, 8> raw{};
  directory.reader().read(entry.value_offset_bytes + index * item_bytes, std::span(raw).first(item_bytes));
  return unsigned_at(raw.data(), item_bytes, directory.header().order);
}

struct BlockList {
  Entry const* entry = nullptr;  // null: absent
  bool is_in_file = false;
  std::string_view name{};  // name of its tag
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
