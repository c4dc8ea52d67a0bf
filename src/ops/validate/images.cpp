// SPDX-License-Identifier: Apache-2.0
#include "ops/validate/images.hpp"

#include "base/text.hpp"
#include "ops/validate/ghost.hpp"
#include "terrazzo/error.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace terrazzo::ops {

namespace {

using ByOffset = std::unordered_map<std::uint64_t, tiff::Directory const*>;

ByOffset by_offset(CheckedFile const& file) {
  ByOffset found;
  for (tiff::Directory const& directory : file.chain.directories) {
    found.emplace(directory.offset_bytes(), &directory);
  }
  for (tiff::Directory const& directory : file.sub_directories) { found.emplace(directory.offset_bytes(), &directory); }
  return found;
}

void add_levels(Dataset const& dataset, ByOffset& unused, CheckedFile& file) {
  auto const add = [&](reading::Level const& level, Role role, std::size_t number) {
    if (level.source != file.source) { return false; }
    auto const found = unused.find(level.image.ifd_offset_bytes);
    if (found == unused.end()) { return true; }  // the directory has two roles and is already listed
    file.images.push_back({role, number, *found->second, level.image, level.index});
    unused.erase(found);
    return true;
  };
  auto const& levels = dataset.shared_impl()->levels;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (!add(*levels[i], Role::level, i)) { ++file.levels_outside; }
    if (levels[i]->mask != nullptr) { add(*levels[i]->mask, Role::mask, i); }
  }
}

// GDAL's COG driver writes BAND in the ghost area in either case; its metadata distinguishes tiles from bands.
bool says_tile_interleaved(tiff::Directory const& main) {
  constexpr std::uint64_t kMaxXmlBytes = std::uint64_t{16} << 20;  // more than readers accept
  tiff::Entry const* const entry = main.find(tiff::tag::GDALMetadata);
  if (entry == nullptr || entry->value_bytes > kMaxXmlBytes) { return false; }
  std::string const xml = main.text_value(tiff::tag::GDALMetadata).value_or("");
  std::size_t const item = xml.find("name=\"INTERLEAVE\"");
  std::size_t const value = item == std::string::npos ? item : xml.find('>', item);
  return value != std::string::npos && xml.compare(value, 6, ">TILE<") == 0;
}

// The arrays are unused here, and thousands of directories may share one array.
void forget_arrays(tiff::Image& image) {
  image.extra_samples = std::vector<std::uint16_t>();  // not {}, which keeps the memory
  image.jpeg_tables = std::vector<std::byte>();
}

// A directory of the chain that is neither a level nor a mask: another image, or an unusable one.
void judge_rest(tiff::Directory const& directory, CheckedFile& file, MemoryBudget& budget, Findings& findings) {
  Place const place{.ifd = directory.index(), .offset = directory.offset_bytes()};
  std::uint64_t const kind = directory.unsigned_value(tiff::tag::NewSubfileType).value_or(0);
  bool const reduced = (kind & 1) != 0, mask = (kind & 4) != 0;
  if (mask) {
    findings.add(Rule::mask_unused, place, [&] {
      return text("IFD ", directory.index(), " is a mask of ",
                  directory.unsigned_value(tiff::tag::ImageWidth).value_or(0), " x ",
                  directory.unsigned_value(tiff::tag::ImageLength).value_or(0),
                  " pixels, but no image of that size wants one");
    });
  } else if (reduced) {
    findings.add(Rule::overview_unused, place, [&] {
      return text("IFD ", directory.index(), " is marked as an overview, but cannot be one of this image: ",
                  "its tags are broken, its bands are others, or there are more than 30 before it");
    });
  }
  try {
    std::vector<std::string> ignored;
    tiff::Image image = tiff::parse_image(directory, ignored);
    tiff::BlockIndex index(directory, image);
    forget_arrays(image);
    budget.charge(sizeof(CheckedImage) + 2 * tiff::held_bytes(directory), "the images of the file");
    file.images.push_back({Role::page, directory.index(), directory, std::move(image), std::move(index)});
  } catch (Error const& error) {
    if (error.kind() == ErrorKind::io || error.kind() == ErrorKind::limit) { throw; }
    if (!mask && !reduced) {
      findings.add(Rule::extra_images, place, [&] {
        return text("IFD ", directory.index(), " is a further directory, but no readable image: ", error.message());
      });
    }
  }
}

}  // namespace

std::string CheckedImage::name() const {
  std::string const base = level == 0 ? "full resolution" : text("overview ", level);
  switch (role) {
    case Role::level: return base;
    case Role::mask: return (level == 0 ? "mask of the " : "mask of ") + base;
    case Role::page: return text("page ", level);
  }
  return base;
}

CheckedImage const* CheckedFile::find(Role role, std::size_t level) const noexcept {
  auto const found =
      std::ranges::find_if(images, [&](CheckedImage const& i) { return i.role == role && i.level == level; });
  return found == images.end() ? nullptr : &*found;
}

std::size_t CheckedFile::level_count() const noexcept {
  return static_cast<std::size_t>(std::ranges::count(images, Role::level, &CheckedImage::role));
}

CheckedFile collect_images(Dataset const& dataset, std::uint32_t page, MemoryBudget& budget, Findings& findings) {
  CheckedFile file;
  file.source = dataset.shared_impl()->levels.at(0)->source;
  file.chain = tiff::read_chain(file.source, budget);
  for (std::string const& warning : file.chain.warnings) {
    findings.add(Rule::chain_broken, {}, [&] { return warning; });
  }
  tiff::Directory const& main = file.chain.directories.at(page);
  file.sub_directories = tiff::read_sub_directories(main);
  file.ghost = judge_ghost_area(main.reader(), file.chain.header, findings);

  file.ghost.tile_interleaved = file.ghost.tile_interleaved || says_tile_interleaved(main);

  // Memory for the extents of all values, which check_extents() lists, and for the table of directories.
  std::uint64_t entries = 0, directories = 0;
  for (auto const* list : {&file.chain.directories, &file.sub_directories}) {
    for (tiff::Directory const& directory : *list) { entries += directory.entries().size(); }
    directories += list->size();
  }
  constexpr std::uint64_t kExtentBytes = 2 * 16, kPlaceBytes = 64;
  budget.charge(entries * kExtentBytes + directories * kPlaceBytes, "the places of all tags");

  ByOffset unused = by_offset(file);
  add_levels(dataset, unused, file);
  std::size_t const own = file.images.size();
  for (tiff::Directory const& directory : file.chain.directories) {
    if (unused.contains(directory.offset_bytes())) { judge_rest(directory, file, budget, findings); }
  }
  if (std::size_t const pages = file.images.size() - own; pages > 0) {
    findings.add(Rule::extra_images, {}, [&] {
      return text("the file has ", pages, pages == 1 ? " directory" : " directories",
                  " beside the image, its overviews and masks; readers of COGs will not see them");
    });
  }
  return file;
}

}  // namespace terrazzo::ops
