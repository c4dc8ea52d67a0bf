// SPDX-License-Identifier: Apache-2.0
#include "ops/validate/layout.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <vector>

namespace terrazzo::ops {

namespace {

// GDAL's limits: images below the first need neither tiles nor overviews; above the second, a row of blocks is too
// large to fetch.
constexpr std::uint32_t kSmallSide = 512;
constexpr std::uint32_t kMaxBlockOfFullWidth = 1024;
// A last level of this size still takes several requests.
constexpr std::uint32_t kLargeLastLevel = 2 * kSmallSide;

Place place_of(CheckedImage const& image) { return {.ifd = image.image.ifd, .offset = image.image.ifd_offset_bytes}; }

std::string size_text(tiff::Image const& image) { return text(image.width_px, " x ", image.height_px); }

std::vector<CheckedImage const*> images_of(CheckedFile const& file, Role role) {
  std::vector<CheckedImage const*> found;
  for (CheckedImage const& image : file.images) {
    if (image.role == role) { found.push_back(&image); }
  }
  return found;
}

void check_main_position(CheckedFile const& file, CheckedImage const& main, Findings& findings) {
  std::uint64_t const at = main.image.ifd_offset_bytes;
  bool const follows_header = at == 8 || at == 16;
  if (!follows_header && at != file.ghost.end_bytes) {
    findings.add(Rule::main_ifd_position, place_of(main), [&] {
      return text("the directory of the image is at byte ", at, "; it should be at byte ", file.ghost.end_bytes);
    });
  }
}

void check_tiling(CheckedImage const& level, Findings& findings) {
  tiff::Image const& image = level.image;
  bool const large = image.width_px > kSmallSide || image.height_px > kSmallSide;
  if (image.block_width_px == image.width_px && image.block_width_px > kMaxBlockOfFullWidth) {
    findings.add(Rule::not_tiled, place_of(level), [&] {
      return text(level.name(), " of ", size_text(image), " pixels has ", image.tiled ? "tiles" : "strips",
                  " as wide as itself, ", image.block_width_px, " x ", image.block_height_px,
                  "; make them smaller tiles");
    });
  } else if (!image.tiled && large) {
    findings.add(Rule::strips, place_of(level), [&] {
      return text(level.name(), " of ", size_text(image), " pixels is made of strips of ", image.block_height_px,
                  " rows; tiles let readers fetch less");
    });
  }
}

// True if `reduced` can be `full` divided by some factor, with each side rounded up or down.
bool reduced_alike(tiff::Image const& full, tiff::Image const& reduced) {
  auto const least = [](double from, double to) { return from / (to + 1); };
  auto const most = [](double from, double to) { return to <= 1 ? from + 1 : from / (to - 1); };
  double const low = std::max(least(full.width_px, reduced.width_px), least(full.height_px, reduced.height_px));
  double const high = std::min(most(full.width_px, reduced.width_px), most(full.height_px, reduced.height_px));
  // A side of one pixel stays one pixel for any factor of the other side.
  bool const thin = reduced.width_px == 1 || reduced.height_px == 1;
  return thin || low < high;
}

void check_overview_sizes(CheckedFile const& file, std::vector<CheckedImage const*> const& levels, Findings& findings) {
  tiff::Image const& full = levels[0]->image;
  bool const large = full.width_px > kSmallSide || full.height_px > kSmallSide;
  if (large && levels.size() == 1 && file.levels_outside == 0) {
    findings.add(Rule::overviews_missing, place_of(*levels[0]), [&] {
      return text("the image of ", size_text(full), " pixels has no overviews: zoomed out, readers fetch all of it");
    });
  }
  for (std::size_t i = 1; i < levels.size(); ++i) {
    tiff::Image const& image = levels[i]->image;
    tiff::Image const& before = levels[i - 1]->image;
    if (image.width_px > before.width_px || image.height_px > before.height_px) {
      findings.add(Rule::overview_larger, place_of(*levels[i]), [&] {
        return text(levels[i]->name(), " of ", size_text(image), " pixels is larger than ", levels[i - 1]->name(),
                    " of ", size_text(before));
      });
    } else if (image.width_px == before.width_px && image.height_px == before.height_px) {
      findings.add(Rule::overview_size, place_of(*levels[i]), [&] {
        return text(levels[i]->name(), " is as large as ", levels[i - 1]->name(), ", ", size_text(image), " pixels");
      });
    } else if (!reduced_alike(full, image)) {
      findings.add(Rule::overview_size, place_of(*levels[i]), [&] {
        return text(levels[i]->name(), " of ", size_text(image), " pixels has not the proportions of the image, ",
                    size_text(full));
      });
    }
    bool const same_type = image.bits == full.bits && image.sample_format == full.sample_format;
    if (!same_type) {
      findings.add(Rule::overview_type, place_of(*levels[i]), [&] {
        return text(levels[i]->name(), " has samples of ", image.bits, " bits, the image of ", full.bits,
                    ", or of another format");
      });
    }
  }
  tiff::Image const& last = levels.back()->image;
  std::uint32_t const limit = std::max({kLargeLastLevel, 2 * last.block_width_px, 2 * last.block_height_px});
  if (levels.size() > 1 && std::max(last.width_px, last.height_px) > limit) {
    findings.add(Rule::overviews_few, place_of(*levels.back()),
                 [&] { return text("the smallest level still has ", size_text(last), " pixels"); });
  }
}

void check_ifd_order(std::vector<CheckedImage const*> const& images, Rule rule, Findings& findings) {
  for (std::size_t i = 1; i < images.size(); ++i) {
    std::uint64_t const at = images[i]->image.ifd_offset_bytes, before = images[i - 1]->image.ifd_offset_bytes;
    if (at < before) {
      findings.add(rule, place_of(*images[i]), [&] {
        return text("the directory of ", images[i]->name(), " is at byte ", at, ", before that of ",
                    images[i - 1]->name(), " at byte ", before);
      });
    }
  }
}

void check_masks(CheckedFile const& file, std::vector<CheckedImage const*> const& levels, Findings& findings) {
  auto const masks = images_of(file, Role::mask);
  check_ifd_order(masks, Rule::mask_ifd_order, findings);
  for (CheckedImage const* mask : masks) {
    CheckedImage const* const image = file.find(Role::level, mask->level);
    if (image != nullptr && mask->image.ifd_offset_bytes < image->image.ifd_offset_bytes) {
      findings.add(Rule::mask_ifd_order, place_of(*mask), [&] {
        return text("the directory of the ", mask->name(), " is at byte ", mask->image.ifd_offset_bytes,
                    ", before that of its image at byte ", image->image.ifd_offset_bytes);
      });
    }
    bool const same_tiles = image == nullptr || (mask->image.block_width_px == image->image.block_width_px &&
                                                 mask->image.block_height_px == image->image.block_height_px);
    if (file.ghost.mask_interleaved && !same_tiles) {
      findings.add(Rule::mask_block_size, place_of(*mask), [&] {
        return text("the ", mask->name(), " has tiles of ", mask->image.block_width_px, " x ",
                    mask->image.block_height_px, ", its image of ", image->image.block_width_px, " x ",
                    image->image.block_height_px, ", though they are said to be interleaved");
      });
    }
  }
  if (file.find(Role::mask, 0) == nullptr) { return; }
  for (CheckedImage const* level : levels) {
    if (file.find(Role::mask, level->level) == nullptr) {
      findings.add(Rule::mask_missing, place_of(*level), [&] {
        return text(level->name(), " has no mask, the image has one: its missing pixels will be shown as data");
      });
    }
  }
}

void check_jpeg_tables(CheckedImage const& image, Findings& findings) {
  if (!tiff::has_jpeg_tables(image.image.compression) || !image.directory.has(tiff::tag::JPEGTables)) { return; }
  constexpr std::uint64_t kMaxBytes = 1 << 16;  // as in parse_image(); images of pages do not keep theirs
  tiff::Entry const* const entry = image.directory.find(tiff::tag::JPEGTables);
  std::vector<std::byte> const tables =
      entry->value_bytes <= kMaxBytes ? image.directory.bytes_value(tiff::tag::JPEGTables) : std::vector<std::byte>{};
  auto const marker = [&](std::size_t at, unsigned code) {
    return tables[at] == std::byte{0xFF} && tables[at + 1] == static_cast<std::byte>(code);
  };
  bool const framed = tables.size() >= 4 && marker(0, 0xD8) && marker(tables.size() - 2, 0xD9);
  if (!framed) {
    findings.add(Rule::jpeg_tables, place_of(image), [&] {
      return text("the JPEGTables of ", image.name(), " (", tables.size(),
                  " bytes) do not begin with SOI and end with EOI");
    });
  }
}

// Tiles are stored from the smallest level to the largest, all after the directories.
void check_data_order(std::vector<CheckedImage const*> const& levels, Findings& findings) {
  CheckedImage const& last = *levels.back();
  if (last.first_tile_bytes.value_or(0) != 0 && *last.first_tile_bytes < last.image.ifd_offset_bytes) {
    findings.add(Rule::data_before_ifd, place_of(last), [&] {
      return text("the first tile of ", last.name(), " is at byte ", *last.first_tile_bytes,
                  ", before its directory at byte ", last.image.ifd_offset_bytes);
    });
  }
  for (std::size_t i = 0; i + 1 < levels.size(); ++i) {
    std::uint64_t const at = levels[i]->first_tile_bytes.value_or(0);
    std::uint64_t const smaller = levels[i + 1]->first_tile_bytes.value_or(0);
    if (at != 0 && at < smaller) {
      findings.add(Rule::overview_data_order, {.ifd = levels[i]->image.ifd, .offset = at}, [&] {
        return text("tiles of ", levels[i]->name(), " begin at byte ", at, ", before those of ", levels[i + 1]->name(),
                    " at byte ", smaller, "; the smallest level should come first");
      });
    }
  }
}

// Every directory and every value of a tag should come before the first tile, so that one request gets them all.
void check_metadata_first(CheckedFile const& file, Findings& findings) {
  std::optional<std::uint64_t> first_tile;
  for (CheckedImage const& image : file.images) {
    if (image.lowest_bytes) { first_tile = std::min(first_tile.value_or(*image.lowest_bytes), *image.lowest_bytes); }
  }
  if (!first_tile) { return; }
  // GDAL's rule covers only the last level's directory and its own tiles; data-before-ifd has reported it.
  bool const told = findings.count(Rule::data_before_ifd) > 0;
  for (CheckedImage const& image : file.images) {
    if (image.role == Role::page) { continue; }
    std::uint64_t const at = image.image.ifd_offset_bytes;
    if (at > *first_tile && !told) {
      findings.add(Rule::ifd_after_data, place_of(image), [&] {
        return text("the directory of ", image.name(), " is at byte ", at, ", behind tile data at byte ", *first_tile);
      });
      continue;
    }
    for (tiff::Entry const& entry : image.directory.entries()) {
      if (at <= *first_tile && entry.value_bytes != 0 && entry.value_offset_bytes > *first_tile) {
        findings.add(Rule::tags_after_data, {.ifd = image.image.ifd, .offset = entry.value_offset_bytes}, [&] {
          return text("tag ", entry.tag, " of ", image.name(), " has its ", entry.value_bytes, " bytes at byte ",
                      entry.value_offset_bytes, ", behind tile data at byte ", *first_tile);
        });
      }
    }
  }
}

// Files beside this one that hold data that should be in it.
void check_sidecars(CheckedFile const& file, Dataset const& dataset, Findings& findings) {
  if (file.levels_outside > 0) {
    findings.add(Rule::external_overviews, {}, [&] {
      return text("overviews are in ", dataset.info().source, ".ovr; they should be in the file itself");
    });
  }
  auto const& mask = dataset.shared_impl()->levels.at(0)->mask;
  if (mask != nullptr && mask->source != file.source) {
    findings.add(Rule::external_mask, {},
                 [&] { return text("the mask is in ", mask->source->name(), "; it should be in the file itself"); });
  }
}

}  // namespace

void check_layout(CheckedFile const& file, Dataset const& dataset, Findings& findings) {
  std::vector<CheckedImage const*> const levels = images_of(file, Role::level);
  check_sidecars(file, dataset, findings);
  check_main_position(file, *levels[0], findings);
  for (CheckedImage const* level : levels) { check_tiling(*level, findings); }
  check_overview_sizes(file, levels, findings);
  check_ifd_order(levels, Rule::overview_ifd_order, findings);
  check_masks(file, levels, findings);
  for (CheckedImage const& image : file.images) { check_jpeg_tables(image, findings); }
  check_data_order(levels, findings);
  check_metadata_first(file, findings);
}

}  // namespace terrazzo::ops
