// SPDX-License-Identifier: Apache-2.0
#include "write/update/file_claims.hpp"

#include "base/checked.hpp"
#include "base/text.hpp"
#include "terrazzo/error.hpp"
#include "tiff/block_index.hpp"
#include "tiff/block_lists.hpp"
#include "tiff/directory_writer.hpp"
#include "tiff/ghost_area.hpp"
#include "write/update/directory_links.hpp"
#include "write/update/tag_edit.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <unordered_set>
#include <utility>

namespace terrazzo::writing {
namespace {

namespace tag = tiff::tag;

constexpr std::uint64_t kNoEnd = std::numeric_limits<std::uint64_t>::max();
// Padding between directories and values: writers align them.
constexpr std::uint64_t kPaddingBytes = 8;
// Zeros after the directories: our COGs have 2 KiB of them, more after tags became shorter.
constexpr std::uint64_t kMaxSlackBytes = std::uint64_t{1} << 20;
// Numbers in private tags that are compared with the file's claims. The limit bounds the time.
constexpr std::size_t kMaxSuspects = std::size_t{1} << 16;
// Tags that point to other directories: SubIFDs, EXIF, GPS, interoperability, fax profiles.
constexpr std::array<std::uint16_t, 5> kDirectoryTags{tag::SubIFDs, 34665, 34853, 40965, 400};
constexpr std::uint16_t kJpegInterchangeLength = 514;

ByteRange claim(std::uint64_t offset_bytes, std::uint64_t size_bytes) {
  return {offset_bytes, checked_add(offset_bytes, size_bytes).value_or(kNoEnd)};
}

bool leads_to_directories(tiff::Entry const& entry) {
  auto const type = static_cast<tiff::FieldType>(entry.type);
  return type == tiff::FieldType::ifd || type == tiff::FieldType::ifd8 ||
         std::ranges::find(kDirectoryTags, entry.tag) != kDirectoryTags.end();
}

// Directories that others point to, each once. Limits the total number of entries to those that fit in the file.
std::vector<tiff::Directory> pointed_to(tiff::Chain const& chain, std::uint64_t file_bytes) {
  constexpr std::uint64_t kMaxOfATag = 1024;
  std::vector<tiff::Directory> found;
  std::unordered_set<std::uint64_t> visited;
  std::uint64_t left_bytes = file_bytes;
  for (tiff::Directory const& directory : chain.directories) { visited.insert(directory.offset_bytes()); }
  auto const add = [&](tiff::Directory const& from, std::uint64_t offset) {
    if (offset == 0 || !visited.insert(offset).second) { return; }
    try {
      tiff::Directory directory = tiff::read_directory(from.reader_ptr(), from.header(), offset, from.index());
      std::uint64_t const bytes = directory.entries().size() * 12;
      if (bytes > left_bytes) {
        throw Error(ErrorKind::limit, "the directories overlap, or are too many", {.ifd = from.index()});
      }
      left_bytes -= bytes;
      found.push_back(std::move(directory));
    } catch (Error const& error) {
      if (error.kind() != ErrorKind::malformed) { throw; }
    }
  };
  auto const follow = [&](tiff::Directory const& directory) {
    for (tiff::Entry const& entry : directory.entries()) {
      if (!leads_to_directories(entry)) { continue; }
      for (std::uint64_t const offset : directory.unsigned_values(entry.tag, kMaxOfATag)) { add(directory, offset); }
    }
  };
  for (tiff::Directory const& directory : chain.directories) { follow(directory); }
  for (std::size_t i = 0; i < found.size(); ++i) {
    tiff::Directory const directory = found[i];  // a copy: `found` grows
    follow(directory);
    add(directory, directory.next_bytes());
  }
  return found;
}

// Bytes of a block that its pixels are made of. Sizes of uncompressed blocks may be too large: readers ignore the rest.
std::uint64_t needed_bytes(tiff::Image const& image, std::uint64_t block, std::uint64_t listed_bytes) {
  if (tiff::is_compressed(image.compression)) { return listed_bytes; }
  return std::min(listed_bytes, image.block_bytes(image.block_rows(image.tile_id(block).row)));
}

// Returns nullopt if the lists are broken. Throws `io`.
std::optional<tiff::BlockIndex> usable_index(tiff::Directory const& directory, tiff::Image const& image) {
  try {
    return tiff::BlockIndex(directory, image);
  } catch (Error const& error) {
    if (error.kind() == ErrorKind::io) { throw; }
    return std::nullopt;
  }
}

// Possible offsets among the values of unknown tags.
class Suspects {
 public:
  using Visit = std::function<bool(std::uint16_t tag, std::uint64_t number)>;  // returns false to stop

  // `in_bytes`: also words at any position in byte values without a known structure.
  explicit Suspects(bool in_bytes) : in_bytes_(in_bytes) {}

  void visit(tiff::Chain const& chain, Visit const& visit) {
    for (tiff::Directory const& directory : chain.directories) {
      for (tiff::Entry const& entry : directory.entries()) {
        // Check values that directories share only once.
        if (!may_hold_offsets(entry) || !seen_.emplace(entry.value_offset_bytes, entry.value_bytes).second) {
          continue;
        }
        if (!visit_entry(directory, entry, visit)) { return; }
      }
    }
  }

 private:
  bool visit_entry(tiff::Directory const& directory, tiff::Entry const& entry, Visit const& visit) const {
    std::size_t const unit = tiff::field_type_bytes(entry.type);
    bool const opaque = unit == 1;
    if (unit == 0 || (opaque && !in_bytes_)) { return true; }
    std::vector<std::byte> const bytes = directory.bytes_value(entry.tag);
    for (std::size_t const width : opaque ? std::vector<std::size_t>{4, 8} : std::vector<std::size_t>{unit}) {
      for (std::size_t at = 0; at + width <= bytes.size(); at += opaque ? 1 : width) {
        if (!visit(entry.tag, tiff::unsigned_at(bytes.data() + at, width, directory.header().order))) { return false; }
      }
    }
    return true;
  }

  bool in_bytes_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen_{};
};

}  // namespace

FileClaims::FileClaims(tiff::Chain const& chain) : chain_(chain) {
  tiff::MetadataReader const& reader = chain.directories.front().reader();
  size_bytes_ = reader.size_bytes();
  front_bytes_ = tiff::header_bytes(chain.header.big);
  if (auto const ghost = tiff::read_ghost_area(reader, chain.header)) {
    promises_layout_ = ghost->ifds_before_data;
    frame_bytes_ = ghost->has_leaders || ghost->has_trailers ? tiff::kTileFrameBytes : 0;
    front_bytes_ = std::max(front_bytes_, std::min(ghost->end_bytes, chain.header.first_ifd_bytes));
  }
  // Thousands of directories may share their lists of blocks: process each list once.
  using Key = std::array<std::uint64_t, 13>;
  std::set<Key> known;
  for (tiff::Directory const& directory : chain.directories) {
    std::optional<tiff::Image>& image = images_.emplace_back(tiff::try_parse_image(directory));
    if (image) {  // unused here; thousands of directories may share one array
      image->extra_samples = std::vector<std::uint16_t>();
      image->jpeg_tables = std::vector<std::byte>();
    }
    tiff::BlockLists const lists(directory, image && image->tiled);
    auto const of = [](tiff::Entry const* e) { return e == nullptr ? tiff::Entry{} : *e; };
    tiff::Entry const offsets = of(lists.offsets.entry), sizes = of(lists.sizes.entry);
    Key const key{offsets.value_offset_bytes,
                  offsets.count,
                  offsets.type,
                  sizes.value_offset_bytes,
                  sizes.count,
                  sizes.type,
                  image ? image->block_count() : 0,
                  image ? static_cast<std::uint64_t>(image->compression) : 0,
                  image ? image->block_width_px : 0,
                  image ? image->block_height_px : 0,
                  image ? image->height_px : 0,
                  image ? std::uint64_t{image->samples} * 256 + image->bits : 0,
                  image && image->tiled ? 1U : 0U};
    repeats_blocks_.push_back(image && !known.insert(key).second);
  }
  check_block_count();
  others_ = pointed_to(chain, size_bytes_);
  claimed_end_bytes_ = size_bytes_;
  each_claim([&](ByteRange const& range, tiff::Directory const& directory) {
    // Offset 0: readers decode these bytes as pixels, although writers mean a missing block.
    if (range.begin == 0) {
      throw Error(ErrorKind::malformed, "data lies on the header: the file cannot be changed without changing it",
                  {.ifd = directory.index(), .offset = range.begin});
    }
    claimed_end_bytes_ = std::max(claimed_end_bytes_, range.end);
  });
  for (std::size_t i = 0; !endless_ifd_ && i < images_.size(); ++i) {
    if (!images_[i] || !tiff::is_compressed(images_[i]->compression) || repeats_blocks_[i]) { continue; }
    tiff::Directory const& directory = chain.directories[i];
    tiff::BlockLists const lists(directory, images_[i]->tiled);
    tiff::Entry const* const sizes = lists.sizes.is_in_file ? lists.sizes.entry : nullptr;
    each_block(directory, images_[i], [&](ByteRange const& range, tiff::Directory const&) {
      if (range.end < size_bytes_) { return; }
      // Listed sizes stay valid when the file grows.
      bool const listed =
          sizes != nullptr && tiff::is_unsigned_type(sizes->type) && sizes->value_bytes != 0 &&
          (images_[i]->tiled || images_[i]->block_count() > 1 || tiff::listed_value(directory, *sizes, 0) != 0);
      if (!listed) { endless_ifd_ = directory.index(); }
    });
  }
}

// Directories with overlapping lists can name more blocks than the file has bytes: visiting all of them would take
// hours.
void FileClaims::check_block_count() const {
  constexpr std::uint64_t kFreeBlocks = 1 << 20;  // blocks of images without lists
  std::uint64_t blocks = 0;
  for (std::size_t i = 0; i < images_.size(); ++i) {
    blocks += images_[i] && !repeats_blocks_[i] ? images_[i]->block_count() : 0;
  }
  if (blocks > size_bytes_ + kFreeBlocks) {
    throw Error(ErrorKind::limit, text("the directories list ", blocks, " blocks, and the file has ", size_bytes_,
                                       " bytes: their lists overlap"));
  }
}

void FileClaims::each_block(tiff::Directory const& directory, std::optional<tiff::Image> const& image,
                            Visit const& visit) const {
  auto const give = [&](std::uint64_t offset, std::uint64_t size) {
    if (size != 0) { visit(claim(offset, size), directory); }
  };
  bool listed_as_they_are = false;
  if (auto const index = image ? usable_index(directory, *image) : std::nullopt) {
    for (std::uint64_t block = 0; block < image->block_count(); ++block) {
      tiff::BlockRange const range = index->range(block);
      give(range.offset_bytes, range.size_bytes);
    }
    // The index may have corrected the sizes of uncompressed strips: both versions count.
    listed_as_they_are = image->tiled || tiff::is_compressed(image->compression);
  }
  if (listed_as_they_are) { return; }
  for (bool const tiled : {false, true}) {
    tiff::BlockLists const lists(directory, tiled);
    auto const usable = [](tiff::BlockList const& list) {
      return list.entry != nullptr && list.is_in_file && tiff::is_unsigned_type(list.entry->type) &&
             list.entry->value_bytes != 0;
    };
    if (!usable(lists.offsets) || !usable(lists.sizes)) { continue; }
    std::uint64_t const count = std::min(lists.offsets.entry->count, lists.sizes.entry->count);
    for (std::uint64_t i = 0; i < count; ++i) {
      give(tiff::listed_value(directory, *lists.offsets.entry, i),
           tiff::listed_value(directory, *lists.sizes.entry, i));
    }
  }
}

void FileClaims::each_chain_block(Visit const& visit) const {
  for (std::size_t i = 0; i < images_.size(); ++i) {
    if (!repeats_blocks_[i]) { each_block(chain_.directories[i], images_[i], visit); }
  }
}

void FileClaims::each_value(Visit const& visit) const {
  std::uint64_t const word_bytes = chain_.header.big ? 8 : 4;
  auto const visit_one = [&](tiff::Directory const& directory) {
    for (tiff::Entry const& entry : directory.entries()) {
      if (entry.value_bytes > word_bytes) { visit(claim(entry.value_offset_bytes, entry.value_bytes), directory); }
    }
    auto const stream = directory.unsigned_value(tag::JPEGInterchangeFormat);
    auto const length = directory.unsigned_value(kJpegInterchangeLength);
    if (stream && length && *stream != 0) { visit(claim(*stream, *length), directory); }
  };
  for (tiff::Directory const& directory : chain_.directories) { visit_one(directory); }
  for (tiff::Directory const& directory : others_) { visit_one(directory); }
}

void FileClaims::each_claim(Visit const& visit) const {
  each_value(visit);
  each_chain_block(visit);
  for (tiff::Directory const& directory : others_) { each_block(directory, tiff::try_parse_image(directory), visit); }
}

ByteRange FileClaims::range_of(tiff::Directory const& directory) const {
  std::uint64_t const link = next_pointer_offset_bytes(directory);
  return {directory.offset_bytes(), std::min(link + (chain_.header.big ? 8 : 4), size_bytes_)};
}

void FileClaims::check_complete(tiff::Directory const& directory, std::optional<tiff::Image> const& image) const {
  constexpr char kWhy[] =
      " past the end of the file: the file is truncated, and bytes added to it would turn the missing ones into zeros; "
      "convert it into a new file, with bad tiles filled";
  auto const index = image ? usable_index(directory, *image) : std::nullopt;
  if (!index) {
    each_block(directory, std::nullopt, [&](ByteRange const& range, tiff::Directory const&) {
      if (range.end <= size_bytes_) { return; }
      throw Error(ErrorKind::malformed, text("a tile or strip reaches", kWhy),
                  {.ifd = directory.index(), .offset = range.begin});
    });
    return;
  }
  for (std::uint64_t number = 0; number < image->block_count(); ++number) {
    tiff::BlockRange const range = index->range(number);
    std::uint64_t const needed = needed_bytes(*image, number, range.size_bytes);
    if (needed == 0 || claim(range.offset_bytes, needed).end <= size_bytes_) { continue; }
    throw Error(ErrorKind::malformed, text(image->tiled ? "the tile" : "the strip", " reaches", kWhy),
                {.ifd = directory.index(), .tile = image->tile_id(number), .offset = range.offset_bytes});
  }
}

void FileClaims::check_complete() const {
  each_value([&](ByteRange const& range, tiff::Directory const& directory) {
    if (range.end <= size_bytes_) { return; }
    throw Error(ErrorKind::malformed,
                "the value of a tag reaches past the end of the file: bytes added to the file would become part of it",
                {.ifd = directory.index(), .offset = range.begin});
  });
  for (std::size_t i = 0; i < images_.size(); ++i) {
    if (!repeats_blocks_[i]) { check_complete(chain_.directories[i], images_[i]); }
  }
  for (tiff::Directory const& directory : others_) { check_complete(directory, tiff::try_parse_image(directory)); }
}

std::uint64_t FileClaims::append_start_bytes() const {
  if (endless_ifd_) {
    throw Error(ErrorKind::unsupported,
                "a block has no size and reaches to the end of the file: appended bytes would become part of it. A "
                "rewritten (EditOptions::rewrite) or converted file has sizes",
                {.ifd = *endless_ifd_});
  }
  if (claimed_end_bytes_ > size_bytes_) { check_complete(); }
  if (claimed_end_bytes_ - size_bytes_ > kMaxHoleBytes) {
    throw Error(ErrorKind::limit,
                text("the file has ", size_bytes_, " bytes and lists blocks that end at byte ", claimed_end_bytes_,
                     ": more than ", kMaxHoleBytes, " bytes past its end, although their pixels need fewer"));
  }
  return round_up(claimed_end_bytes_, kAppendedAlignmentBytes);
}

bool FileClaims::is_zero(ByteRange const& range) const {
  std::vector<std::byte> bytes(static_cast<std::size_t>(range.end - range.begin));
  chain_.directories.front().reader().read(range.begin, bytes);
  return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{}; });
}

// Directories and their values from the first one on, as far as they are contiguous.
std::optional<ByteRange> FileClaims::own_run(std::uint64_t first_bytes) const {
  std::vector<ByteRange> own;
  std::uint64_t const word_bytes = chain_.header.big ? 8 : 4;
  for (tiff::Directory const& directory : chain_.directories) {
    own.push_back(range_of(directory));
    for (tiff::Entry const& entry : directory.entries()) {
      if (entry.value_bytes > word_bytes) { own.push_back(claim(entry.value_offset_bytes, entry.value_bytes)); }
    }
  }
  std::ranges::sort(own);
  std::uint64_t end = first_bytes;
  for (ByteRange const& range : own) {
    if (range.end <= end) { continue; }
    if (range.end > size_bytes_) { return std::nullopt; }
    if (range.begin > end && (range.begin - end >= kPaddingBytes || !is_zero({end, range.begin}))) { break; }
    end = range.end;
  }
  return ByteRange{first_bytes, end};
}

std::optional<ByteRange> FileClaims::reusable() const {
  std::uint64_t const first = chain_.directories.front().offset_bytes();
  if (first < front_bytes_ || first % 2 != 0 || !others_.empty()) { return std::nullopt; }
  for (std::size_t i = 0; i < images_.size(); ++i) {
    tiff::Directory const& directory = chain_.directories[i];
    if (!images_[i] || has_pointers(directory) || directory.offset_bytes() < first) { return std::nullopt; }
  }
  std::optional<ByteRange> run = own_run(first);
  if (!run) { return std::nullopt; }
  std::uint64_t first_block = kNoEnd;  // from the first directory on, with the bytes before it
  each_chain_block([&](ByteRange const& range, tiff::Directory const&) {
    ByteRange const framed{range.begin - std::min(range.begin, frame_bytes_), range.end};
    if (framed.end > first) { first_block = std::min(first_block, std::max(first, framed.begin)); }
  });
  bool const slack = promises_layout_ && first_block > run->end && first_block <= size_bytes_ &&
                     first_block - run->end <= kMaxSlackBytes;
  if (slack && is_zero({run->end, first_block})) { run->end = first_block; }
  run->end = std::min(run->end, first_block);
  bool suspected = false;
  Suspects(true).visit(chain_, [&](std::uint16_t, std::uint64_t number) {
    suspected = run->begin <= number && number < run->end;
    return !suspected;
  });
  return suspected ? std::nullopt : run;
}

void FileClaims::check_patches(std::span<ByteRange const> patches) const {
  auto const check = [&](ByteRange const& range, tiff::Directory const& directory) {
    auto const hit = std::ranges::find_if(patches, [&](ByteRange const& patch) { return patch.overlaps(range); });
    if (hit == patches.end()) { return; }
    throw Error(ErrorKind::malformed,
                text("bytes ", range.begin, " to ", range.end,
                     " are data and lead to a directory too: the file cannot be changed without changing them"),
                {.ifd = directory.index(), .offset = hit->begin});
  };
  each_claim(check);
  for (tiff::Directory const& directory : others_) { check(range_of(directory), directory); }
  // For directories in the chain, exclude the link itself, which may change.
  for (tiff::Directory const& directory : chain_.directories) {
    check({directory.offset_bytes(), next_pointer_offset_bytes(directory)}, directory);
  }
}

std::optional<std::uint16_t> FileClaims::tag_of_unclaimed_bytes() const {
  struct Suspect {
    std::uint16_t tag = 0;
    std::uint64_t next_claim = kNoEnd;
  };
  std::map<std::uint64_t, Suspect> unclaimed;  // keyed by possible offset
  Suspects(false).visit(chain_, [&](std::uint16_t tag, std::uint64_t number) {
    if (number >= front_bytes_ && number < size_bytes_) { unclaimed.emplace(number, Suspect{tag}); }
    return unclaimed.size() < kMaxSuspects;
  });
  if (unclaimed.empty()) { return std::nullopt; }
  auto const cover = [&](ByteRange const& range, tiff::Directory const&) {
    auto const first = unclaimed.lower_bound(range.begin);
    if (first != unclaimed.begin()) {
      Suspect& before = std::prev(first)->second;
      before.next_claim = std::min(before.next_claim, range.begin);
    }
    unclaimed.erase(first, unclaimed.lower_bound(range.end));
  };
  each_value(cover);
  each_chain_block([&](ByteRange const& range, tiff::Directory const& directory) {
    cover({range.begin - std::min(range.begin, frame_bytes_), range.end + std::min(frame_bytes_, kNoEnd - range.end)},
          directory);
  });
  for (tiff::Directory const& directory : chain_.directories) { cover(range_of(directory), directory); }
  // A range of zeros contains no data.
  constexpr std::uint64_t kLookBytes = 4096;
  std::uint64_t next = size_bytes_;
  for (auto it = unclaimed.rbegin(); it != unclaimed.rend(); ++it) {
    next = std::min(next, it->second.next_claim);
    if (!is_zero({it->first, std::min(next, it->first + kLookBytes)})) { return it->second.tag; }
  }
  return std::nullopt;
}

}  // namespace terrazzo::writing
