// SPDX-License-Identifier: Apache-2.0
#include "write/assembly.hpp"

#include "base/text.hpp"
#include "terrazzo/error.hpp"
#include "tiff/directory_writer.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <string>

namespace terrazzo::writing {

namespace {

// A front this long is rounded up, so that it can be inserted before tiles that are already in the file.
constexpr std::uint64_t kLongFrontBytes = std::uint64_t{1} << 20;
constexpr std::uint64_t kFrontUnitBytes = std::uint64_t{64} << 10;

constexpr std::string_view kGhost =
    "LAYOUT=IFDS_BEFORE_DATA\n"
    "BLOCK_ORDER=ROW_MAJOR\n"
    "BLOCK_LEADER=SIZE_AS_UINT4\n"
    "BLOCK_TRAILER=LAST_4_BYTES_REPEATED\n"
    "KNOWN_INCOMPATIBLE_EDITION=NO\n ";  // the blank lets editors write YES in place
constexpr std::string_view kGhostWithMask =
    "LAYOUT=IFDS_BEFORE_DATA\n"
    "BLOCK_ORDER=ROW_MAJOR\n"
    "BLOCK_LEADER=SIZE_AS_UINT4\n"
    "BLOCK_TRAILER=LAST_4_BYTES_REPEATED\n"
    "KNOWN_INCOMPATIBLE_EDITION=NO\n "
    "MASK_INTERLEAVED_WITH_IMAGERY=YES\n";

std::span<std::byte const> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) noexcept { return (value + unit - 1) / unit * unit; }

}  // namespace

std::string_view ghost_area(bool mask) noexcept { return mask ? kGhostWithMask : kGhost; }

std::uint64_t raster_start_bytes(std::uint64_t front_bytes) noexcept {
  return front_bytes >= kLongFrontBytes ? round_up(front_bytes, kFrontUnitBytes) : front_bytes;
}

std::string ghost_text(bool mask) {
  std::string_view const lines = ghost_area(mask);
  std::array<char, 64> head{};
  std::snprintf(head.data(), head.size(), "GDAL_STRUCTURAL_METADATA_SIZE=%06zu bytes\n", lines.size());
  return std::string(head.data()).append(lines);
}

Assembly::Assembly(FilePlan const& plan, ByteSink& sink, std::uint64_t start_bytes)
    : plan_(plan), sink_(sink), start_bytes_(start_bytes), tags_(plan) {
  for (LevelPlan const& level : plan.levels) {
    image_places_.emplace_back(level.blocks_per_plane() * plan.planes);
    if (plan.options.mask) { mask_places_.emplace_back(level.blocks_per_plane()); }
  }
  quota_.limit_bytes = plan.options.spool_bytes;
  SpoolWay const way = plan.options.spool_way;
  if (plan.options.cog) {
    for (std::size_t level = 0; level < plan.levels.size(); ++level) {
      for (std::uint32_t plane = 0; plane < plan.planes; ++plane) {
        bool const in_place = level == 0 && plan.planes == 1 && sink.is_seekable();
        spools_.emplace_back(sink, quota_, way, in_place);
      }
    }
    return;
  }
  end_bytes_ = first_directory() + directories_bytes(all_tags({}));
  if (!sink.is_seekable()) { spools_.emplace_back(sink, quota_, way, false); }
}

std::uint64_t Assembly::first_directory() const noexcept {
  if (start_bytes_ != 0) { return start_bytes_; }
  std::uint64_t const header = tiff::header_bytes(plan_.bigtiff);
  if (!plan_.options.cog) { return header; }
  // At once, in BigTIFF too: where validators look for it.
  return round_up(header + ghost_text(plan_.options.mask).size(), 2);
}

std::vector<tiff::TagSet> Assembly::all_tags(std::span<Moments const> moments) const {
  std::vector<tiff::TagSet> all;
  for (std::size_t level = plan_.first_level; level < plan_.levels.size(); ++level) {
    all.push_back(tags_.image(level, image_places_[level], moments));
    if (plan_.options.mask) { all.push_back(tags_.mask(level, mask_places_[level])); }
  }
  return all;
}

std::uint64_t Assembly::directories_bytes(std::span<tiff::TagSet const> tags) const {
  std::uint64_t bytes = 0;
  for (tiff::TagSet const& one : tags) { bytes += tiff::directory_bytes(one, plan_.bigtiff); }
  return bytes;
}

std::vector<std::byte> Assembly::encode_front(std::span<Moments const> moments) const {
  std::vector<std::byte> front;  // from start_bytes_ on
  if (start_bytes_ == 0) { front = tiff::encode_header(plan_.bigtiff, first_directory()); }
  if (plan_.options.cog) {
    std::string const ghost = ghost_text(plan_.options.mask);
    auto const ghost_bytes = bytes_of(ghost);
    front.insert(front.end(), ghost_bytes.begin(), ghost_bytes.end());
  }
  front.resize(first_directory() - start_bytes_);
  std::vector<tiff::TagSet> const tags = all_tags(moments);
  for (std::size_t i = 0; i < tags.size(); ++i) {
    std::uint64_t const at = start_bytes_ + front.size();
    std::uint64_t const next = i + 1 < tags.size() ? at + tiff::directory_bytes(tags[i], plan_.bigtiff) : 0;
    std::vector<std::byte> const directory = tiff::encode_directory(tags[i], plan_.bigtiff, at, next);
    front.insert(front.end(), directory.begin(), directory.end());
  }
  return front;
}

io::Spool& Assembly::spool_of(std::size_t level, std::uint32_t plane) { return spools_[level * plan_.planes + plane]; }

void Assembly::add(BlockPlaces& places, std::size_t level, TileId block, std::span<std::byte const> bytes) {
  ++report_.tiles;
  if (bytes.empty()) {
    ++report_.sparse_tiles;
    return;
  }
  LevelPlan const& geometry = plan_.levels[level];
  std::uint64_t const index =
      geometry.blocks_per_plane() * block.plane + std::uint64_t{block.row} * geometry.blocks_across + block.column;
  report_.compressed_bytes += bytes.size();
  places.sizes_bytes[index] = static_cast<std::uint32_t>(bytes.size());
  if (plan_.options.cog) {
    io::Spool& spool = spool_of(level, block.plane);
    auto const size = static_cast<std::uint32_t>(bytes.size());
    std::array<std::byte, 4> leader{}, trailer{};
    std::memcpy(leader.data(), &size, 4);
    std::size_t const last = std::min<std::size_t>(4, bytes.size());
    std::memcpy(trailer.data(), bytes.data() + bytes.size() - last, last);
    spool.append(leader);
    places.offsets_bytes[index] = spool.append(bytes);
    spool.append(trailer);
  } else if (!spools_.empty()) {
    places.offsets_bytes[index] = end_bytes_;
    spools_.front().append(bytes);
    end_bytes_ += bytes.size();
  } else {
    check_classic(end_bytes_ + bytes.size());
    places.offsets_bytes[index] = end_bytes_;
    sink_.write_at(end_bytes_, bytes);
    end_bytes_ += bytes.size();
  }
}

void Assembly::add_image(std::size_t level, TileId block, std::span<std::byte const> bytes) {
  add(image_places_[level], level, block, bytes);
}

void Assembly::add_mask(std::size_t level, TileId block, std::span<std::byte const> bytes) {
  add(mask_places_[level], level, block, bytes);
}

void Assembly::check_classic(std::uint64_t end_bytes) const {
  if (plan_.bigtiff || end_bytes <= 0xFFFFFFFFULL) { return; }
  throw Error(ErrorKind::limit, "the file passes 4 GiB, and BigTIFF was not wanted", {.source = sink_.name()});
}

WriteReport Assembly::finish(std::span<Moments const> moments) {
  if (plan_.options.cog) {
    finish_cog(moments);
  } else {
    finish_plain(moments);
  }
  report_.bytes_written = end_bytes_;
  return report_;
}

void Assembly::finish_plain(std::span<Moments const> moments) {
  check_classic(end_bytes_);
  std::vector<std::byte> const front = encode_front(moments);
  sink_.write_at(start_bytes_, front);
  if (!spools_.empty()) {
    report_.spool_way = spools_.front().way() == SpoolWay::memory ? "memory" : "unnamed file";
    spools_.front().place(start_bytes_ + front.size());
  }
}

void Assembly::finish_cog(std::span<Moments const> moments) {
  std::uint64_t const data = first_directory() + directories_bytes(all_tags({})) + kSlackBytes;
  // Where each spool goes: small overviews first, the raster last.
  std::vector<std::uint64_t> starts(spools_.size());
  std::uint64_t at = data;
  for (std::size_t level = plan_.levels.size(); level-- > 0;) {
    if (level == 0) { at = raster_start_bytes(at); }
    for (std::uint32_t plane = 0; plane < plan_.planes; ++plane) {
      starts[level * plan_.planes + plane] = at;
      at += spool_of(level, plane).size_bytes();
    }
  }
  end_bytes_ = at;
  check_classic(at);
  for (std::size_t level = 0; level < plan_.levels.size(); ++level) {
    std::uint64_t const per_plane = plan_.levels[level].blocks_per_plane();
    auto const move = [&](BlockPlaces& places) {
      for (std::size_t i = 0; i < places.offsets_bytes.size(); ++i) {
        if (places.sizes_bytes[i] != 0) {
          places.offsets_bytes[i] += starts[level * plan_.planes + static_cast<std::size_t>(i / per_plane)];
        }
      }
    };
    move(image_places_[level]);
    if (plan_.options.mask) { move(mask_places_[level]); }
  }
  std::vector<std::byte> front = encode_front(moments);
  front.resize(data);
  io::Spool& raster = spool_of(0, 0);
  report_.spool_way = raster.way() == SpoolWay::memory     ? "memory"
                      : raster.way() == SpoolWay::in_place ? "in place"
                                                           : "unnamed file";
  // A raster that waits in the file itself is moved up before anything is written in front of it.
  bool const raster_first = raster.way() == SpoolWay::in_place;
  if (raster_first) { raster.place(starts[0]); }
  sink_.write_at(0, front);
  std::uint64_t written = data;
  for (std::size_t level = plan_.levels.size(); level-- > (raster_first ? 1 : 0);) {
    for (std::uint32_t plane = 0; plane < plan_.planes; ++plane) {
      std::size_t const index = level * plan_.planes + plane;
      std::uint64_t const size = spools_[index].size_bytes();
      if (!sink_.is_seekable() && starts[index] > written) {
        sink_.write_at(written, std::vector<std::byte>(starts[index] - written));
      }
      spools_[index].place(starts[index]);
      written = starts[index] + size;
    }
  }
  if (raster_first && starts[0] > written) { sink_.write_at(written, std::vector<std::byte>(starts[0] - written)); }
}

}  // namespace terrazzo::writing
