// SPDX-License-Identifier: Apache-2.0
#include "tiff/block_index.hpp"

#include "base/checked.hpp"
#include "base/text.hpp"
#include "terrazzo/error.hpp"
#include "tiff/block_lists.hpp"

#include <algorithm>

namespace terrazzo::tiff {

BlockIndex::BlockIndex(Directory const& directory, Image const& image)
    : directory_(directory),
      block_count_(image.block_count()),
      blocks_per_plane_(image.blocks_per_plane()),
      blocks_across_(image.blocks_across) {
  bool const raw = !is_compressed(image.compression);
  full_block_bytes_ = raw ? image.block_bytes(image.block_height_px) : 0;
  last_block_bytes_ = raw ? image.block_bytes(image.block_rows(image.blocks_down - 1)) : 0;

  std::uint16_t const offsets_tag = image.tiled ? tag::TileOffsets : tag::StripOffsets;
  auto const refuse = [&](std::string message) -> void {
    throw Error(ErrorKind::malformed, std::move(message),
                {.source = directory.reader().source()->name(), .ifd = directory.index(), .tag = offsets_tag});
  };
  BlockLists const lists(directory, image.tiled);
  Entry const* const offsets = lists.offsets.entry;
  if (offsets == nullptr) { refuse("the directory does not say where its blocks are"); }
  if (!is_unsigned_type(offsets->type) || offsets->value_bytes == 0 || !lists.offsets.is_in_file) {
    refuse("the list of block offsets cannot be read");
  }
  offsets_ = *offsets;
  // A short list is tolerated, as in libtiff (the rest is sparse). The number of unlisted blocks is limited, because a
  // tiny file could otherwise declare millions of empty blocks and cost the time to visit them.
  constexpr std::uint64_t kMaxUnlistedBlocks = 1 << 20;
  if (block_count_ > offsets->count && block_count_ - offsets->count > kMaxUnlistedBlocks) {
    refuse(text("the list names ", offsets->count, " of ", block_count_, " blocks"));
  }
  Entry const* const counts = lists.sizes.entry;
  if (counts != nullptr && is_unsigned_type(counts->type) && counts->value_bytes != 0 && lists.sizes.is_in_file) {
    counts_ = *counts;
  }

  // Bugs of writers that libtiff corrects too: uncompressed data with impossible counts.
  if (counts_ && raw && !image.tiled) {
    std::uint64_t const first = value(*counts_, 0);
    std::uint64_t const offset = value(offsets_, 0);
    std::uint64_t const file_bytes = directory.reader().size_bytes();
    bool const past_end = offset <= file_bytes && first > file_bytes - offset;
    bool const one_strip_wrong =
        block_count_ == 1 && ((first == 0 && offset != 0) || past_end || first < full_block_bytes_);
    bool const two_differ = block_count_ > 2 && !image.separate_planes && counts_->count > 1 && first != 0 &&
                            value(*counts_, 1) != 0 && first != value(*counts_, 1);
    if (one_strip_wrong || two_differ) { counts_.reset(); }
  } else if (counts_ && !image.tiled && block_count_ == 1 && value(*counts_, 0) == 0 && value(offsets_, 0) != 0) {
    counts_.reset();
  }
}

std::uint64_t BlockIndex::value(Entry const& entry, std::uint64_t index) const {
  return listed_value(directory_, entry, index);
}

BlockRange BlockIndex::range(std::uint64_t block) const {
  if (block >= offsets_.count) { return {}; }  // not listed
  std::uint64_t const offset = value(offsets_, block);
  if (!counts_) { return estimated(block, offset); }
  return {offset, value(*counts_, block)};
}

BlockRange BlockIndex::estimated(std::uint64_t block, std::uint64_t offset) const {
  if (offset == 0) { return {}; }
  std::uint64_t const file_bytes = directory_.reader().size_bytes();
  if (full_block_bytes_ != 0) {
    bool const last_row = block % blocks_per_plane_ >= blocks_per_plane_ - blocks_across_;
    return {offset, last_row ? last_block_bytes_ : full_block_bytes_};
  }
  // Compressed: up to the next block, or to the end of the file.
  std::uint64_t const next = block + 1 < block_count_ ? value(offsets_, block + 1) : 0;
  std::uint64_t const end = next > offset ? next : file_bytes;
  return {offset, end > offset ? end - offset : 0};
}

}  // namespace terrazzo::tiff
