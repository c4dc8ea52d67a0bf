// SPDX-License-Identifier: Apache-2.0
#include "ops/edit/edit_file.hpp"

#include "base/checked.hpp"
#include "base/settings.hpp"
#include "base/text.hpp"
#include "ops/edit/cog_layout.hpp"
#include "read/open/dataset.hpp"
#include "terrazzo/error.hpp"
#include "tiff/block_index.hpp"
#include "tiff/ghost_area.hpp"
#include "write/update/directory_links.hpp"
#include "write/update/rewrite.hpp"
#include "write/update/tag_edit.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <utility>

namespace terrazzo::ops {
namespace {

[[noreturn]] void refuse(ErrorKind kind, std::string message) { throw Error(kind, std::move(message)); }

constexpr std::array kPlaceTags{tiff::tag::StripOffsets, tiff::tag::StripByteCounts, tiff::tag::TileOffsets,
                                tiff::tag::TileByteCounts};

tiff::TagSet without_places(tiff::TagSet tags) {
  for (std::uint16_t const tag : kPlaceTags) { tags.erase(tag); }
  return tags;
}

// Compares the tags except for the places of tiles, and the sizes of the tiles.
void require_copy(tiff::Directory const& directory, writing::CopiedImage const& wanted) {
  auto const differ = [&](std::string what) {
    refuse(ErrorKind::io, text("IFD ", directory.index(), " reads back differently from the copied one: ", what));
  };
  if (!writing::same_tags(without_places(writing::tags_of(directory)), without_places(wanted.tags))) {
    differ("its tags differ");
  }
  std::optional<tiff::Image> const image = tiff::try_parse_image(directory);
  if (!image || image->block_count() != wanted.image.block_count()) { differ("the number of its tiles differs"); }
  tiff::BlockIndex const index(directory, *image);
  std::uint64_t const file_bytes = directory.reader().size_bytes();
  for (std::uint64_t block = 0; block < image->block_count(); ++block) {
    tiff::BlockRange const now = index.range(block), before = wanted.index.range(block);
    if (now.size_bytes != before.size_bytes || !range_fits(now.offset_bytes, now.size_bytes, file_bytes)) {
      differ(text("tile ", block, " is lost"));
    }
  }
}

// A raster and the most overviews that readers accept, with their masks: a file with more is no COG, and validating it
// would waste time.
constexpr std::size_t kMaxCogDirectories = 62;

constexpr char kNoRoom[] =
    "there is no room for the change before the tiles of this COG; EditOptions::rewrite writes a new file without "
    "recompressing tiles";

}  // namespace

EditedFile::EditedFile(std::string const& path, EditOptions const& options)
    : path_(path), options_(options), budget_(resolve_memory_limit(0)) {
  file_.emplace(path, options.durability);
  file_->open();
  size_bytes_ = file_->old_size_bytes();
  dataset_ = file_->while_named([&] { return open(path, {.sidecars = false}); });
  chain_ = tiff::read_chain(dataset_->shared_impl()->levels.front()->source, budget_);
  if (!chain_.warnings.empty()) { refuse(ErrorKind::malformed, chain_.warnings.front()); }
  for (tiff::Directory const& directory : chain_.directories) {
    directories_.push_back({.source = &directory, .image = tiff::try_parse_image(directory)});
    // Unused here; thousands of directories may share one array.
    if (auto& image = directories_.back().image) {
      image->extra_samples = std::vector<std::uint16_t>();  // not {}, which keeps the memory
      image->jpeg_tables = std::vector<std::byte>();
    }
  }
  budget_.charge(directories_.size() * sizeof(Directory), "the images of the file");
  auto const ghost = tiff::read_ghost_area(chain_.directories.front().reader(), chain_.header);
  promises_layout_ = ghost && ghost->ifds_before_data;
}

bool EditedFile::is_overview(std::size_t index) const noexcept {
  auto const& image = directories_[index].image;
  return image && image->is_reduced() && !image->is_mask();
}

bool EditedFile::is_all_tiles() const noexcept {
  return std::ranges::all_of(directories_, [](Directory const& d) { return !d.image || d.image->tiled; });
}

tiff::TagSet& EditedFile::tags(Directory& directory) {
  if (directory.tags) { return *directory.tags; }
  constexpr std::uint64_t kSharedBytes = std::uint64_t{16} << 20;  // values that images share: [8, 8, 8]
  constexpr std::uint64_t kTagBytes = 128;
  std::uint64_t own_bytes = 0;
  for (tiff::Entry const& entry : directory.source->entries()) { own_bytes += entry.value_bytes; }
  values_bytes_ += own_bytes;
  if (values_bytes_ > size_bytes_ + kSharedBytes) {
    refuse(ErrorKind::limit, text("the directories share values: written apart they take ", values_bytes_,
                                  " bytes, and the file has ", size_bytes_));
  }
  // Unchanged, changed, and encoded.
  budget_.charge(3 * own_bytes + directory.source->entries().size() * kTagBytes, "the tags");
  directory.tags = writing::tags_of(*directory.source);
  return *directory.tags;
}

std::uint64_t EditedFile::chain_bytes() const {
  std::uint64_t const word = chain_.header.big ? 8 : 4;
  std::uint64_t bytes = 0;
  for (Directory const& directory : directories_) {
    if (directory.tags) {
      bytes += tiff::directory_bytes(*directory.tags, chain_.header.big);
      continue;
    }
    std::set<std::uint16_t> seen;  // of a repeated tag, the first counts
    for (tiff::Entry const& entry : directory.source->entries()) {
      if (entry.value_bytes > word && seen.insert(entry.tag).second) { bytes += entry.value_bytes; }
    }
  }
  return bytes;
}

void EditedFile::change(std::size_t index, std::function<void(tiff::TagSet&)> const& edit) {
  Directory& directory = directories_[index];
  tiff::TagSet const before = tags(directory);
  edit(*directory.tags);
  directory.changed = directory.changed || !writing::same_tags(before, *directory.tags);
}

EditWay EditedFile::write() {
  if (options_.rewrite) {
    write_fresh();
    return EditWay::rewritten;
  }
  if (std::ranges::none_of(directories_, &Directory::changed)) { return EditWay::nothing; }
  writing::FileClaims const claims(chain_);
  if (auto const place = claims.reusable(); place && write_in_place(*place)) { return EditWay::in_place; }
  std::uint64_t const start_bytes = claims.append_start_bytes();
  if (dataset_->info().layout.cog) { refuse(ErrorKind::usage, kNoRoom); }
  CogLayout const layout =
      promises_layout_ || directories_.size() > kMaxCogDirectories ? CogLayout{} : cog_layout(path_);
  if (layout.valid && layout.has_overviews && is_all_tiles()) { refuse(ErrorKind::usage, kNoRoom); }
  std::uint64_t const pointer_at = writing::first_pointer_offset_bytes(chain_.header);
  claims.check_patches({{{pointer_at, pointer_at + (chain_.header.big ? 8U : 4U)}}});
  write_appended(start_bytes);
  no_longer_cog_ = layout.valid;
  return EditWay::appended;
}

void EditedFile::check_written(std::vector<writing::Patch> patches, writing::Values unchanged) {
  file_->while_named([&] { compare_with_written(std::move(patches), unchanged); });
}

void EditedFile::compare_with_written(std::vector<writing::Patch> patches, writing::Values unchanged) {
  tiff::Chain const chain =
      writing::read_back_chain(writing::patched_file(path_, std::move(patches)), directories_.size());
  for (std::size_t i = 0; i < directories_.size(); ++i) {
    Directory& wanted = directories_[i];
    if (wanted.changed) {
      writing::require_tags(chain.directories[i], tags(wanted));
    } else {
      writing::require_same(chain.directories[i], *wanted.source, unchanged);
    }
  }
}

// `patch` makes the change visible. Before it is written, the file is checked with the patch applied. Afterwards only
// the patch is read back: it may overwrite the old directories, with which the new ones are compared.
void EditedFile::publish(std::uint64_t size_bytes, writing::Patch const& patch, writing::Values unchanged) {
  file_->publish(size_bytes);
  check_written({patch}, unchanged);
  apply(size_bytes, patch);
}

void EditedFile::apply(std::uint64_t size_bytes, writing::Patch const& patch) {
  file_->patch(patch.offset_bytes, patch.bytes);
  file_->while_named([&] { writing::require_bytes(path_, patch); });
  file_->commit();
  size_bytes_ = size_bytes;
}

bool EditedFile::write_in_place(writing::ByteRange const& place) {
  bool const big = chain_.header.big;
  std::uint64_t const room = place.end - place.begin;
  // Check the size before reading values: directories that share values may exceed the memory.
  if (chain_bytes() > room) { return false; }
  std::vector<tiff::TagSet> all;
  for (Directory& directory : directories_) { all.push_back(tags(directory)); }
  if (tiff::chain_bytes(all, big) > room) { return false; }
  std::vector<std::byte> fresh = tiff::encode_chain(all, big, place.begin, chain_.header.order);
  // Fill with zeros; write only the bytes that differ.
  fresh.resize(room);
  std::vector<std::byte> old(room);
  chain_.directories.front().reader().read(place.begin, old);
  auto const differs = [&](std::size_t i) { return fresh[i] != old[i]; };
  std::size_t begin = 0, end = room;
  while (begin < end && !differs(begin)) { ++begin; }
  while (end > begin && !differs(end - 1)) { --end; }
  auto const at = [&](std::size_t i) { return fresh.begin() + static_cast<std::ptrdiff_t>(i); };
  writing::Patch const patch{place.begin + begin, {at(begin), at(end)}};
  // Directories that overlap each other or values read back differently. They are appended to the file instead.
  try {
    check_written({patch}, writing::Values::compared);
  } catch (Error const&) { return false; }
  file_->publish(size_bytes_);
  apply(size_bytes_, patch);
  return true;
}

void EditedFile::write_appended(std::uint64_t start_bytes) {
  bool const big = chain_.header.big;
  std::size_t last = directories_.size();
  while (!directories_[last - 1].changed) { --last; }
  // Offsets first: then the successor of each is known.
  std::vector<std::uint64_t> places;
  std::uint64_t at = start_bytes;
  for (std::size_t i = 0; i < last; ++i) {
    places.push_back(at);
    Directory& directory = directories_[i];
    std::uint64_t const size = directory.changed ? tiff::directory_bytes(tags(directory), big)
                                                 : writing::relinked(*directory.source, 0).size();
    at = round_up(at + size, writing::kAppendedAlignmentBytes);
  }
  std::uint64_t end = size_bytes_;
  for (std::size_t i = 0; i < last; ++i) {
    Directory& directory = directories_[i];
    std::uint64_t const next = i + 1 < last ? places[i + 1] : directories_[i].source->next_bytes();
    std::vector<std::byte> const bytes =
        directory.changed ? tiff::encode_directory(tags(directory), big, places[i], next, chain_.header.order)
                          : writing::relinked(*directory.source, next);
    file_->write_at(places[i], bytes);
    end = places[i] + bytes.size();
  }
  publish(end,
          {writing::first_pointer_offset_bytes(chain_.header), writing::encode_pointer(chain_.header, places.front())},
          writing::Values::in_place);
}

void EditedFile::write_fresh() {
  if (auto const tag = writing::FileClaims(chain_).tag_of_unclaimed_bytes()) {
    throw Error(
        ErrorKind::unsupported,
        "a private tag may point to data that a new file would lack; an edit without EditOptions::rewrite keeps them",
        {.tag = *tag});
  }
  writing::RewritePlan plan;
  CogLayout const layout =
      promises_layout_ || directories_.size() > kMaxCogDirectories ? CogLayout{} : cog_layout(path_);
  plan.cog = promises_layout_ || (layout.valid && layout.has_overviews && is_all_tiles());
  plan.bigtiff = chain_.header.big;
  plan.order = chain_.header.order;
  plan.progress = options_.progress;
  plan.cancel = options_.cancel;
  for (Directory& directory : directories_) {
    if (!directory.image || writing::has_pointers(*directory.source)) {
      refuse(ErrorKind::unsupported, "the file holds directories that point to other data, which cannot be moved");
    }
    bool const page =
        &directory != &directories_.front() && !directory.image->is_reduced() && !directory.image->is_mask();
    if (plan.cog && (page || !directory.image->tiled)) {
      refuse(ErrorKind::unsupported, "a file of several images, or of strips, cannot become a COG");
    }
    plan.images.push_back({tags(directory), *directory.image, tiff::BlockIndex(*directory.source, *directory.image),
                           directory.image->is_mask()});
  }
  if (plan.cog) {
    // The raster, then large images first, each before its mask. Other images may claim to be larger than the raster.
    std::ranges::stable_sort(plan.images.begin() + 1, plan.images.end(),
                             [](writing::CopiedImage const& a, writing::CopiedImage const& b) {
                               auto const area = [](writing::CopiedImage const& i) {
                                 return std::uint64_t{i.image.width_px} * i.image.height_px;
                               };
                               return area(a) != area(b) ? area(a) > area(b) : (!a.is_mask && b.is_mask);
                             });
  }
  auto const sink = file_->replacement();
  sink->open();
  try {
    WriteReport const report = writing::rewrite(plan, *dataset_->shared_impl()->levels.front()->source, *sink);
    tiff::Chain const written =
        writing::read_back_chain(writing::written_so_far(*sink, report.bytes_written), plan.images.size());
    for (std::size_t i = 0; i < plan.images.size(); ++i) { require_copy(written.directories[i], plan.images[i]); }
    sink->publish(report.bytes_written);
    size_bytes_ = report.bytes_written;
  } catch (...) {
    sink->discard();
    throw;
  }
}

}  // namespace terrazzo::ops
