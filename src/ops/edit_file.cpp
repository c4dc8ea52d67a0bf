// SPDX-License-Identifier: Apache-2.0
#include "ops/edit_file.hpp"

#include "base/checked.hpp"
#include "base/settings.hpp"
#include "base/text.hpp"
#include "read/dataset.hpp"
#include "terrazzo/error.hpp"
#include "tiff/block_index.hpp"
#include "tiff/ghost_area.hpp"
#include "write/directory_links.hpp"
#include "write/rewrite.hpp"
#include "write/tag_edit.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

namespace terrazzo::ops {
namespace {

[[noreturn]] void refuse(ErrorKind kind, std::string message) { throw Error(kind, std::move(message)); }

bool same_value(tiff::TagValue const& a, tiff::TagValue const& b) {
  return a.type == b.type && a.count == b.count && a.bytes == b.bytes;
}

bool same_tags(tiff::TagSet const& a, tiff::TagSet const& b) {
  return std::ranges::equal(a.values(), b.values(), [](auto const& left, auto const& right) {
    return left.first == right.first && same_value(left.second, right.second);
  });
}

}  // namespace

EditedFile::EditedFile(std::string const& path, EditOptions const& options)
    : path_(path), options_(options), budget_(resolve_memory_limit(0)) {
  file_.emplace(path, options.durability);
  file_->open();
  size_bytes_ = file_->old_size_bytes();
  dataset_ = open(path, {.sidecars = false});
  chain_ = tiff::read_chain(dataset_->shared_impl()->levels.front()->source, budget_);
  if (!chain_.warnings.empty()) { refuse(ErrorKind::malformed, chain_.warnings.front()); }
  for (tiff::Directory const& directory : chain_.directories) {
    directories_.push_back({.source = &directory, .image = tiff::try_parse_image(directory)});
    // Nobody looks at them here, and thousands of directories may share one array.
    if (auto& image = directories_.back().image) {
      image->extra_samples = std::vector<std::uint16_t>();  // and not {}, which keeps the memory
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

bool EditedFile::is_cog() const { return dataset_->info().layout.cog; }

tiff::TagSet& EditedFile::tags(Directory& directory) {
  if (directory.tags) { return *directory.tags; }
  constexpr std::uint64_t kSharedBytes = std::uint64_t{16} << 20;  // that writers may share, [8, 8, 8] of each image
  constexpr std::uint64_t kTagBytes = 128;
  std::uint64_t own_bytes = 0;
  for (tiff::Entry const& entry : directory.source->entries()) { own_bytes += entry.value_bytes; }
  values_bytes_ += own_bytes;
  if (values_bytes_ > size_bytes_ + kSharedBytes) {
    refuse(ErrorKind::limit, text("the directories share values: written apart they take ", values_bytes_,
                                  " bytes, and the file has ", size_bytes_));
  }
  // As they are, changed, and encoded.
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
    std::set<std::uint16_t> seen;  // of a repeated tag the first counts
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
  directory.changed = directory.changed || !same_tags(before, *directory.tags);
}

EditWay EditedFile::write() {
  if (options_.rewrite) {
    write_fresh();
    return EditWay::rewritten;
  }
  if (std::ranges::none_of(directories_, &Directory::changed)) { return EditWay::nothing; }
  if (auto const region = find_region(); region && write_in_place(*region)) { return EditWay::in_place; }
  if (is_cog()) {
    refuse(ErrorKind::usage,
           "there is no room for the change before the tiles of this COG; --rewrite writes a fresh file, without "
           "compressing anything again");
  }
  write_appended();
  return EditWay::appended;
}

std::optional<EditedFile::Region> EditedFile::find_region() {
  Region region{chain_.directories.front().offset_bytes(), size_bytes_};
  for (Directory const& directory : directories_) {
    // What a directory points to might lie between them, and would be written over.
    if (!directory.image || writing::has_pointers(*directory.source) ||
        directory.source->offset_bytes() < region.first) {
      return std::nullopt;
    }
  }
  // More blocks than the file has bytes are listed many times over, and going through them takes for ever.
  constexpr std::uint64_t kFreeBlocks = 1 << 20;
  std::uint64_t blocks = 0;
  for (Directory const& directory : directories_) { blocks += directory.image->block_count(); }
  if (blocks > size_bytes_ + kFreeBlocks) { return std::nullopt; }
  std::uint64_t const leader = promises_layout_ ? tiff::kTileFrameBytes : 0;
  for (Directory const& directory : directories_) {
    tiff::BlockIndex const index(*directory.source, *directory.image);
    for (std::uint64_t block = 0; block < directory.image->block_count(); ++block) {
      tiff::BlockRange const range = index.range(block);
      if (range.offset_bytes == 0) { continue; }
      if (range.offset_bytes < region.first) {
        if (range.size_bytes > region.first - range.offset_bytes) { return std::nullopt; }
        continue;
      }
      region.end = std::min(region.end, range.offset_bytes - std::min(leader, range.offset_bytes - region.first));
    }
  }
  return region;
}

bool EditedFile::write_in_place(Region const& region) {
  bool const big = chain_.header.big;
  if (region.first % 2 != 0 || chain_bytes() > region.end - region.first) { return false; }
  std::vector<tiff::TagSet> all;
  for (Directory& directory : directories_) { all.push_back(tags(directory)); }
  if (tiff::chain_bytes(all, big) > region.end - region.first) { return false; }
  std::vector<std::byte> fresh = tiff::encode_chain(all, big, region.first, chain_.header.order);
  // Zeros behind them up to the end of what was there, at most to the first tile; only what differs is written.
  std::uint64_t used = fresh.size();
  for (Directory const& directory : directories_) {
    auto const extend = [&](std::uint64_t end) {
      if (end <= region.end && end > region.first) { used = std::max(used, end - region.first); }
    };
    extend(writing::next_pointer_offset_bytes(*directory.source) + (big ? 8 : 4));
    for (tiff::Entry const& entry : directory.source->entries()) {
      extend(entry.value_offset_bytes + entry.value_bytes);
    }
  }
  fresh.resize(used);
  std::vector<std::byte> old(used);
  chain_.directories.front().reader().read(region.first, old);
  auto const differs = [&](std::size_t i) { return fresh[i] != old[i]; };
  std::size_t begin = 0, end = used;
  while (begin < end && !differs(begin)) { ++begin; }
  while (end > begin && !differs(end - 1)) { --end; }
  file_->publish(size_bytes_);
  file_->patch(region.first + begin, std::span(fresh).subspan(begin, end - begin));
  return true;
}

void EditedFile::write_appended() {
  bool const big = chain_.header.big;
  std::size_t last = directories_.size();
  while (!directories_[last - 1].changed) { --last; }
  // Places first: what follows each is known then.
  std::vector<std::uint64_t> places;
  std::uint64_t at = round_up(size_bytes_, writing::kAppendedAlignmentBytes);
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
  std::vector<std::byte> const pointer = writing::encode_pointer(chain_.header, places.front());
  file_->publish(end);
  file_->patch(writing::first_pointer_offset_bytes(chain_.header), pointer);
  size_bytes_ = end;
}

void EditedFile::write_fresh() {
  writing::RewritePlan plan;
  plan.cog = promises_layout_;
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
    // Large images first, each before its mask.
    std::ranges::stable_sort(plan.images, [](writing::CopiedImage const& a, writing::CopiedImage const& b) {
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
    sink->publish(report.bytes_written);
    size_bytes_ = report.bytes_written;
  } catch (...) {
    sink->discard();
    throw;
  }
}

}  // namespace terrazzo::ops
