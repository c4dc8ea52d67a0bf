// SPDX-License-Identifier: Apache-2.0
#include "ops/validate/blocks.hpp"

#include "base/byte_view.hpp"
#include "base/checked.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#include "tiff/block_lists.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <vector>

namespace terrazzo::ops {

namespace {

using tiff::BlockRange;

constexpr std::uint64_t kChunkBlocks = 1 << 16;
constexpr std::uint64_t kGrain = 2048;  // blocks whose leaders and trailers one thread fetches in one call
constexpr std::uint64_t kFreeBlocks = 1 << 20;  // limit for any file, even a small one

// The bytes around a block, in the order of files with contiguous blocks: its leader, then its last four bytes, then
// its trailer.
struct Marks {
  std::array<std::byte, 4> leader;
  std::array<std::byte, 4> last;
  std::array<std::byte, 4> trailer;
};
static_assert(sizeof(Marks) == 12);

class ImagePass {
 public:
  ImagePass(CheckedFile const& file, CheckedImage& image, ExtentList* extents, Findings& findings)
      : file_(file),
        image_(image),
        mask_(interleaved_mask(file, image)),
        extents_(extents),
        findings_(findings),
        file_bytes_(file.source->size_bytes()),
        tile_major_(image.image.separate_planes && file.ghost.tile_interleaved) {}

  template <class Advance>
  void run(unsigned threads, BlockCounts& counts, Advance const& advance) {
    check_index();
    std::uint64_t const total = image_.image.block_count();
    for (std::uint64_t first = 0; first < total; first += kChunkBlocks) {
      std::uint64_t const count = std::min(kChunkBlocks, total - first);
      ranges_.resize(static_cast<std::size_t>(count));
      for (std::uint64_t i = 0; i < count; ++i) {
        ranges_[static_cast<std::size_t>(i)] = image_.index.range(block_at(first + i));
      }
      if (wants_marks()) { fetch_marks(threads); }
      for (std::size_t i = 0; i < ranges_.size(); ++i) { judge(first + i, ranges_[i], counts); }
      if (wants_marks()) { judge_marks(first); }
      counts.tiles += count;
      advance(count);
    }
  }

 private:
  // The mask whose blocks follow those of `image`, or null.
  static CheckedImage const* interleaved_mask(CheckedFile const& file, CheckedImage const& image) {
    if (!file.ghost.mask_interleaved || image.role != Role::level) { return nullptr; }
    CheckedImage const* const mask = file.find(Role::mask, image.level);
    bool const same_grid = mask != nullptr && mask->image.block_width_px == image.image.block_width_px &&
                           mask->image.block_height_px == image.image.block_height_px && !mask->image.separate_planes;
    bool const in_step = !image.image.separate_planes || file.ghost.tile_interleaved;
    return same_grid && in_step ? mask : nullptr;
  }

  [[nodiscard]] bool wants_marks() const noexcept {
    return image_.role != Role::page && (file_.ghost.has_leaders || file_.ghost.has_trailers);
  }

  // The block at a position in the expected file order.
  [[nodiscard]] std::uint64_t block_at(std::uint64_t position) const noexcept {
    if (!tile_major_) { return position; }
    std::uint64_t const planes = image_.image.planes();
    return position % planes * image_.image.blocks_per_plane() + position / planes;
  }

  [[nodiscard]] Place place_of(std::uint64_t block, std::uint64_t offset) const {
    return {.ifd = image_.image.ifd, .tile = image_.image.tile_id(block), .offset = offset};
  }

  [[nodiscard]] std::string name_of(std::uint64_t block) const {
    TileId const id = image_.image.tile_id(block);
    std::string const kind = image_.image.tiled ? "tile (" : "strip (";
    std::string const plane = image_.image.separate_planes ? text(", plane ", id.plane) : std::string();
    return text(kind, id.column, ", ", id.row, ")", plane, " of ", image_.name());
  }

  // The lists may be shorter than the image: the remaining blocks count as missing from the file.
  void check_index() {
    std::uint64_t const blocks = image_.image.block_count();
    auto const check = [&](tiff::BlockList const& list, char const* what) {
      std::uint64_t const listed = list.is_in_file ? list.entry->count : 0;
      if (listed < blocks) {
        findings_.add(Rule::index_short, {.ifd = image_.image.ifd, .offset = image_.image.ifd_offset_bytes}, [&] {
          return text(image_.name(), " has ", blocks, " tiles, but ", listed, " ", what, " are listed");
        });
      }
    };
    tiff::BlockLists const lists(image_.directory, image_.image.tiled);
    check(lists.offsets, "offsets");
    check(lists.sizes, "sizes");
  }

  void fetch_marks(unsigned threads) {
    marks_.assign(ranges_.size(), Marks{});
    parallel_ranges(ranges_.size(), kGrain, threads, [&](std::uint64_t first, std::uint64_t last, unsigned) {
      std::vector<RangeRead> reads;
      reads.reserve(static_cast<std::size_t>(last - first) * 2);
      // A trailer and the leader of the next block are neighbours in the file and here: one read gets both.
      auto const want = [&](std::uint64_t offset, std::byte* into, std::size_t bytes) {
        if (!reads.empty()) {
          RangeRead& before = reads.back();
          if (before.offset_bytes + before.into.size() == offset && before.into.data() + before.into.size() == into) {
            before.into = {before.into.data(), before.into.size() + bytes};
            return;
          }
        }
        reads.push_back({offset, {into, bytes}});
      };
      for (auto i = static_cast<std::size_t>(first); i < last; ++i) {
        auto* const bytes = reinterpret_cast<std::byte*>(&marks_[i]);
        if (has_leader(ranges_[i])) { want(ranges_[i].offset_bytes - 4, bytes, 4); }
        if (has_trailer(ranges_[i])) { want(ranges_[i].offset_bytes + ranges_[i].size_bytes - 4, bytes + 4, 8); }
      }
      file_.source->submit(reads).wait();
    });
  }

  // True if there are bytes to check. Blocks outside the file are already reported.
  [[nodiscard]] bool has_leader(BlockRange const& r) const noexcept {
    return file_.ghost.has_leaders && r.size_bytes != 0 && r.offset_bytes >= 4 && r.offset_bytes <= file_bytes_;
  }
  [[nodiscard]] bool has_trailer(BlockRange const& r) const noexcept {
    return file_.ghost.has_trailers && r.size_bytes >= 4 && range_fits(r.offset_bytes, r.size_bytes, file_bytes_) &&
           file_bytes_ - r.offset_bytes - r.size_bytes >= 4;
  }

  void judge(std::uint64_t position, BlockRange const& range, BlockCounts& counts) {
    std::uint64_t const block = block_at(position);
    bool const present = range.size_bytes != 0;
    if (!present) {
      ++counts.sparse;
      if (range.offset_bytes != 0) {
        findings_.add(Rule::tile_empty, place_of(block, range.offset_bytes),
                      [&] { return text(name_of(block), " is at byte ", range.offset_bytes, " but has no bytes"); });
      }
    } else {
      if (block < image_.image.blocks_per_plane() && !image_.first_tile_bytes) {
        image_.first_tile_bytes = range.offset_bytes;
      }
      image_.lowest_bytes = std::min(image_.lowest_bytes.value_or(range.offset_bytes), range.offset_bytes);
      if (!range_fits(range.offset_bytes, range.size_bytes, file_bytes_)) {
        findings_.add(Rule::tile_past_end, place_of(block, range.offset_bytes), [&] {
          return text(name_of(block), " has ", range.size_bytes, " bytes at byte ", range.offset_bytes,
                      "; the file ends at byte ", file_bytes_);
        });
      } else if (extents_ != nullptr) {
        extents_->add(range.offset_bytes, range.size_bytes);
      }
    }
    judge_order(block, present ? range : BlockRange{});
  }

  void judge_order(std::uint64_t block, BlockRange const& range) {
    std::uint64_t offset = range.offset_bytes;
    if (mask_ != nullptr && is_followed_by_mask(block)) {
      BlockRange const mask = mask_->index.range(block % image_.image.blocks_per_plane());
      std::uint64_t const mask_offset = mask.size_bytes != 0 ? mask.offset_bytes : 0;
      if (offset != 0 && mask_offset != 0) {
        judge_order_of(block, offset);
        std::uint64_t const expected =
            offset + range.size_bytes + file_.ghost.leader_bytes() + file_.ghost.trailer_bytes();
        if (mask_offset != expected) {
          Place place = place_of(block, mask_offset);
          place.ifd = mask_->image.ifd;
          findings_.add(Rule::mask_interleave, place, [&] {
            return text("the mask of ", name_of(block), " is at byte ", mask_offset, "; it should follow at byte ",
                        expected);
          });
        }
        note_offset(offset);
        return;
      }
      if (offset == 0) { offset = mask_offset; }
    }
    judge_order_of(block, offset);
    note_offset(offset);
  }

  // With separate planes interleaved tile by tile, the mask follows the last plane.
  [[nodiscard]] bool is_followed_by_mask(std::uint64_t block) const noexcept {
    return block / image_.image.blocks_per_plane() + 1 == image_.image.planes();
  }

  void judge_order_of(std::uint64_t block, std::uint64_t offset) {
    if (offset == 0 || offset >= last_ || image_.role == Role::page) { return; }
    Rule const rule = file_.ghost.row_major ? Rule::tile_order : Rule::tile_order_unpromised;
    // GDAL compares neighbours only, and resets the offset at a missing tile.
    bool const known = file_.ghost.row_major && offset < previous_;
    findings_.add(
        rule, place_of(block, offset),
        [&] { return text(name_of(block), " is at byte ", offset, ", before the one that precedes it, at ", last_); },
        known);
  }

  void note_offset(std::uint64_t offset) noexcept {
    previous_ = offset;
    if (offset != 0) { last_ = offset; }
  }

  void judge_marks(std::uint64_t first) {
    for (std::size_t i = 0; i < ranges_.size(); ++i) {
      BlockRange const& range = ranges_[i];
      if (range.size_bytes == 0) { continue; }
      std::uint64_t const block = block_at(first + i);
      if (file_.ghost.has_leaders) { judge_leader(block, range, marks_[i]); }
      if (file_.ghost.has_trailers) { judge_trailer(block, range, marks_[i]); }
    }
  }

  void judge_leader(std::uint64_t block, BlockRange const& range, Marks const& marks) {
    if (range.offset_bytes == 0) { return; }  // reported separately: it overlaps the header
    std::uint32_t const told = load<std::uint32_t>(marks.leader.data(), std::endian::little);
    if (!has_leader(range)) {
      findings_.add(Rule::tile_leader, place_of(block, range.offset_bytes), [&] {
        return text("there is no leader before ", name_of(block), ", at byte ", range.offset_bytes);
      });
    } else if (told != range.size_bytes) {
      findings_.add(Rule::tile_leader, place_of(block, range.offset_bytes), [&] {
        return text("the leader of ", name_of(block), " says ", told, " bytes, the index ", range.size_bytes);
      });
    }
  }

  void judge_trailer(std::uint64_t block, BlockRange const& range, Marks const& marks) {
    if (range.size_bytes < 4 || range.offset_bytes == 0) { return; }
    if (!has_trailer(range)) {
      findings_.add(
          Rule::tile_trailer, place_of(block, range.offset_bytes),
          [&] { return text("the file ends before the trailer of ", name_of(block)); }, false);
    } else if (marks.last != marks.trailer) {
      findings_.add(Rule::tile_trailer, place_of(block, range.offset_bytes), [&] {
        return text("the trailer of ", name_of(block), " at byte ", range.offset_bytes + range.size_bytes,
                    " does not repeat its last four bytes");
      });
    }
  }

  CheckedFile const& file_;
  CheckedImage& image_;
  CheckedImage const* mask_;
  ExtentList* extents_;
  Findings& findings_;
  std::uint64_t file_bytes_;
  bool tile_major_;
  std::vector<BlockRange> ranges_;  // ranges of the chunk
  std::vector<Marks> marks_;        // marks of the chunk
  std::uint64_t last_ = 0;      // offset of the last block that is in the file
  std::uint64_t previous_ = 0;  // offset of the previous block; 0 if it is missing
};

// Smallest level first, as in the file, so that the list of extents is nearly sorted.
std::vector<std::size_t> order_of_visits(CheckedFile const& file) {
  std::vector<std::size_t> order(file.images.size());
  for (std::size_t i = 0; i < order.size(); ++i) { order[i] = i; }
  auto const pages =
      std::ranges::partition_point(order, [&](std::size_t i) { return file.images[i].role != Role::page; });
  std::reverse(order.begin(), pages);
  return order;
}

}  // namespace

std::uint64_t checkable_blocks(CheckedFile const& file) noexcept {
  std::uint64_t const limit = file.source->size_bytes() + kFreeBlocks;
  std::uint64_t total = 0;
  for (std::size_t const i : order_of_visits(file)) {
    std::uint64_t const blocks = file.images[i].image.block_count();
    if (blocks <= limit - total) { total += blocks; }
  }
  return total;
}

BlockCounts check_blocks(CheckedFile& file, unsigned threads, ExtentList* extents, Findings& findings,
                         std::function<void(std::uint64_t)> const& advance) {
  BlockCounts counts;
  std::uint64_t const limit = file.source->size_bytes() + kFreeBlocks;
  for (std::size_t const i : order_of_visits(file)) {
    CheckedImage& image = file.images[i];
    if (image.image.block_count() > limit - counts.tiles) {
      findings.add(Rule::tiles_not_checked, {.ifd = image.image.ifd, .offset = image.image.ifd_offset_bytes}, [&] {
        return text("the ", image.image.block_count(), " tiles of ", image.name(),
                    " were not checked: the file lists more tiles than it has bytes");
      });
      continue;
    }
    ImagePass(file, image, extents, findings).run(threads, counts, advance);
  }
  return counts;
}

}  // namespace terrazzo::ops
