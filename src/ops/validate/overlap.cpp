// SPDX-License-Identifier: Apache-2.0
#include "ops/validate/overlap.hpp"

#include "base/checked.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <map>
#include <string>

namespace terrazzo::ops {

namespace {

// Slack up to this size may be alignment.
constexpr std::uint64_t kMuchSlackBytes = std::uint64_t{64} << 10;

// A tile that overlaps another one, and that one.
struct Collision {
  Extent tile, other{};
};

// The first collision of a kind, and their number.
struct Collisions {
  std::vector<Collision> first;
  std::uint64_t total = 0;
  void add(Collision const& collision, std::size_t most) {
    if (first.size() < most) { first.push_back(collision); }
    ++total;
  }
};

struct AllCollisions {
  Collisions overlaps, shared, over_metadata;
};

// REQUIRES: both lists are sorted.
AllCollisions find_collisions(std::vector<Extent> const& tiles, std::vector<Extent> const& metadata, std::size_t most) {
  AllCollisions found;
  Extent reach{};  // the tile with the largest end so far
  auto next = metadata.begin();
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    Extent const& tile = tiles[i];
    if (i > 0 && tile == tiles[i - 1]) {
      found.shared.add({tile}, most);
    } else if (tile.begin < reach.end) {
      found.overlaps.add({tile, reach}, most);
    }
    if (tile.end > reach.end) { reach = tile; }
    while (next != metadata.end() && next->end <= tile.begin) { ++next; }
    if (next != metadata.end() && next->begin < tile.end) { found.over_metadata.add({tile, *next}, most); }
  }
  return found;
}

// Finds the first tile of each extent. Extents do not store their tiles, to be small; only broken files take this extra
// pass through the indexes.
class Owners {
 public:
  void want(Collisions const& collisions) {
    for (Collision const& c : collisions.first) {
      owners_[c.tile];
      owners_[c.other];
    }
  }

  void look_up(CheckedFile const& file) {
    std::size_t missing = owners_.size();
    for (CheckedImage const& image : file.images) {
      bool const checked = image.lowest_bytes.has_value();
      for (std::uint64_t block = 0; checked && missing > 0 && block < image.image.block_count(); ++block) {
        tiff::BlockRange const range = image.index.range(block);
        auto const found = owners_.find({range.offset_bytes, range.offset_bytes + range.size_bytes});
        if (found == owners_.end() || found->second.image != nullptr) { continue; }
        found->second = {&image, block};
        --missing;
      }
    }
  }

  [[nodiscard]] Place place(Extent const& tile) const {
    Owner const& owner = owners_.at(tile);
    if (owner.image == nullptr) { return {.offset = tile.begin}; }
    return {.ifd = owner.image->image.ifd, .tile = owner.image->image.tile_id(owner.block), .offset = tile.begin};
  }

  [[nodiscard]] std::string name(Extent const& tile) const {
    Owner const& owner = owners_.at(tile);
    if (owner.image == nullptr) { return "a tile"; }
    TileId const id = owner.image->image.tile_id(owner.block);
    return text(owner.image->image.tiled ? "tile (" : "strip (", id.column, ", ", id.row, ") of ", owner.image->name());
  }

 private:
  struct Owner {
    CheckedImage const* image = nullptr;
    std::uint64_t block = 0;
  };
  std::map<Extent, Owner> owners_;
};

std::string bytes_text(Extent const& extent) { return text("bytes ", extent.begin, " to ", extent.end); }

template <class Message>
void tell(Rule rule, Collisions const& collisions, Owners const& owners, Findings& findings, Message const& message) {
  for (Collision const& c : collisions.first) {
    findings.add(rule, owners.place(c.tile), [&] { return message(c); });
  }
  findings.add_unread(rule, collisions.total - collisions.first.size());
}

void check_collisions(CheckedFile const& file, std::vector<Extent> const& tiles, std::vector<Extent> const& metadata,
                      Findings& findings) {
  AllCollisions const found = find_collisions(tiles, metadata, findings.max_of_a_rule());
  if (found.overlaps.total + found.shared.total + found.over_metadata.total == 0) { return; }
  Owners owners;
  owners.want(found.overlaps);
  owners.want(found.shared);
  owners.want(found.over_metadata);
  owners.look_up(file);
  tell(Rule::tile_overlap, found.overlaps, owners, findings, [&](Collision const& c) {
    return text(owners.name(c.tile), ", ", bytes_text(c.tile), ", lies on ", owners.name(c.other), ", ",
                bytes_text(c.other));
  });
  tell(Rule::tile_shared, found.shared, owners, findings, [&](Collision const& c) {
    return text(bytes_text(c.tile), " are ", owners.name(c.tile), " and another tile too");
  });
  tell(Rule::tile_over_metadata, found.over_metadata, owners, findings, [&](Collision const& c) {
    return text(owners.name(c.tile), ", ", bytes_text(c.tile), ", lies on metadata, ", bytes_text(c.other));
  });
}

// Bytes that belong neither to tiles and their frames nor to metadata. REQUIRES: both lists are sorted.
std::uint64_t uncovered_bytes(std::vector<Extent> const& tiles, std::vector<Extent> const& metadata,
                              Extent const& frame, std::uint64_t file_bytes) {
  std::uint64_t covered_to = 0, uncovered = 0;
  auto const cover = [&](std::uint64_t begin, std::uint64_t end) {
    if (begin > covered_to) { uncovered += begin - covered_to; }
    covered_to = std::max(covered_to, end);
  };
  auto next = metadata.begin();
  for (Extent const& tile : tiles) {
    std::uint64_t const begin = tile.begin - std::min(tile.begin, frame.begin);
    for (; next != metadata.end() && next->begin <= begin; ++next) { cover(next->begin, next->end); }
    cover(begin, tile.end + frame.end);
  }
  for (; next != metadata.end(); ++next) { cover(next->begin, next->end); }
  if (covered_to < file_bytes) { uncovered += file_bytes - covered_to; }
  return uncovered;
}

}  // namespace

std::vector<Extent> metadata_extents(CheckedFile const& file) {
  std::uint64_t const file_bytes = file.source->size_bytes();
  bool const big = file.chain.header.big;
  std::vector<Extent> all;
  auto const add = [&](std::uint64_t offset, std::uint64_t size) {
    if (size != 0 && range_fits(offset, size, file_bytes)) { all.push_back({offset, offset + size}); }
  };
  add(0, std::min(file.ghost.end_bytes, file_bytes));
  auto const add_directory = [&](tiff::Directory const& directory) {
    std::uint64_t const own = (big ? 16U : 6U) + directory.entries().size() * (big ? 20U : 12U);
    add(directory.offset_bytes(), own);
    for (tiff::Entry const& entry : directory.entries()) { add(entry.value_offset_bytes, entry.value_bytes); }
  };
  for (tiff::Directory const& directory : file.chain.directories) { add_directory(directory); }
  for (tiff::Directory const& directory : file.sub_directories) { add_directory(directory); }
  std::ranges::sort(all);
  std::vector<Extent> merged;
  for (Extent const& extent : all) {
    if (!merged.empty() && extent.begin <= merged.back().end) {
      merged.back().end = std::max(merged.back().end, extent.end);
    } else {
      merged.push_back(extent);
    }
  }
  return merged;
}

void check_extents(CheckedFile const& file, ExtentList list, Findings& findings, Validation& validation) {
  std::vector<Extent> tiles = std::move(list).take();
  if (!std::ranges::is_sorted(tiles)) { std::ranges::sort(tiles); }
  std::vector<Extent> const metadata = metadata_extents(file);
  check_collisions(file, tiles, metadata, findings);

  Extent const frame{file.ghost.leader_bytes(), file.ghost.trailer_bytes()};
  std::uint64_t const file_bytes = file.source->size_bytes();
  if (!tiles.empty()) {
    std::uint64_t const first = tiles.front().begin - std::min(tiles.front().begin, frame.begin);
    for (Extent const& extent : metadata) {
      if (extent.begin < first) { validation.header_bytes = std::min(extent.end, first); }
    }
    validation.slack_bytes = first - validation.header_bytes;
    if (validation.slack_bytes > kMuchSlackBytes) {
      findings.add(Rule::slack, {.offset = validation.header_bytes}, [&] {
        return text(validation.slack_bytes, " unused bytes between the directories and the first tile at byte ",
                    tiles.front().begin);
      });
    }
  } else {
    validation.header_bytes = metadata.empty() ? 0 : metadata.back().end;
  }
  std::uint64_t const dead = uncovered_bytes(tiles, metadata, frame, file_bytes);
  if (dead > validation.slack_bytes + kMuchSlackBytes && dead > file_bytes / 100) {
    findings.add(Rule::dead_space, {}, [&] {
      return text(dead, " of the file's ", file_bytes,
                  " bytes belong to nothing: it was edited, or data were appended");
    });
  }
}

}  // namespace terrazzo::ops
