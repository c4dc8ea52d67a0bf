// SPDX-License-Identifier: Apache-2.0
#include "write/layout/assembly.hpp"

#include "base/memory_budget.hpp"
#include "base/saturating.hpp"
#include "base/settings.hpp"
#include "terrazzo/error.hpp"
#include "tiff/directory_writer.hpp"
#include "tiff/ghost_area.hpp"

#include <utility>

namespace terrazzo::writing {

namespace {

// The places of all blocks are held until the end, and a second time while they are encoded as tags. A raster of a few
// bytes may have two thousand million blocks.
void check_memory(FilePlan const& plan) {
  constexpr std::uint64_t kPlaceBytes = 2 * (sizeof(std::uint64_t) + sizeof(std::uint32_t));
  MemoryBudget budget(resolve_memory_limit(0));
  static_cast<void>(budget.reserve(saturating_product(plan.tile_count(), kPlaceBytes), "the places of all tiles"));
}

}  // namespace

Assembly::Assembly(FilePlan const& plan, ByteSink& sink, std::uint64_t start_bytes)
    : Assembly(plan, sink, FileTags(plan), start_bytes) {}

Assembly::Assembly(FilePlan const& plan, ByteSink& sink, FileTags tags, std::uint64_t start_bytes)
    : plan_(plan), sink_(sink), start_bytes_(start_bytes), tags_(std::move(tags), plan) {
  check_memory(plan);
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
  end_bytes_ = directories_end_bytes();
  if (!sink.is_seekable()) { spools_.emplace_back(sink, quota_, way, false); }
}

FileHeadFormat Assembly::front_format() const noexcept {
  return {.bigtiff = plan_.bigtiff, .cog = plan_.options.cog, .mask = plan_.options.mask};
}

std::vector<tiff::TagSet> Assembly::all_tags(std::span<Moments const> moments) const {
  std::vector<tiff::TagSet> all;
  for (std::size_t level = plan_.first_level; level < plan_.levels.size(); ++level) {
    all.push_back(tags_.image(level, image_places_[level], moments));
    if (plan_.options.mask) { all.push_back(tags_.mask(level, mask_places_[level])); }
  }
  return all;
}

std::uint64_t Assembly::directories_end_bytes() const {
  std::uint64_t const first = start_bytes_ != 0 ? start_bytes_ : first_directory_bytes(front_format());
  return first + tiff::chain_bytes(all_tags({}), plan_.bigtiff);
}

// The bytes from start_bytes_ on.
std::vector<std::byte> Assembly::encode_directories(std::span<Moments const> moments) const {
  std::vector<tiff::TagSet> const tags = all_tags(moments);
  return start_bytes_ == 0 ? encode_file_head(front_format(), tags)
                           : tiff::encode_chain(tags, plan_.bigtiff, start_bytes_);
}

io::Spool& Assembly::spool_of(std::size_t level, std::uint32_t plane) { return spools_[level * plan_.planes + plane]; }

std::uint64_t Assembly::index_of(std::size_t level, TileId block) const noexcept {
  LevelPlan const& geometry = plan_.levels[level];
  return geometry.blocks_per_plane() * block.plane + std::uint64_t{block.row} * geometry.blocks_across + block.column;
}

bool Assembly::fix_offsets(std::span<BlockSize const> sizes) {
  if (!plan_.options.cog || !sink_.is_seekable()) { return false; }
  for (BlockSize const& block : sizes) {
    std::uint64_t const index = index_of(block.level, block.id);
    image_places_[block.level].sizes_bytes[index] = block.image_bytes;
    if (plan_.options.mask && block.id.plane == 0) { mask_places_[block.level].sizes_bytes[index] = block.mask_bytes; }
  }
  std::uint64_t at = directories_end_bytes() + kSlackBytes;
  auto const place = [&](BlockPlaces& places, std::uint64_t index) {
    if (places.sizes_bytes[index] == 0) { return; }
    at += tiff::kTileFrameBytes;
    places.offsets_bytes[index] = at;
    at += places.sizes_bytes[index] + tiff::kTileFrameBytes;
  };
  for (std::size_t level = plan_.levels.size(); level-- > 0;) {
    if (level == 0) { at = raster_start_bytes(at); }
    std::uint64_t const per_plane = plan_.levels[level].blocks_per_plane();
    for (std::uint64_t index = 0; index < per_plane * plan_.planes; ++index) {
      place(image_places_[level], index);
      if (plan_.options.mask && index < per_plane) { place(mask_places_[level], index); }
    }
  }
  check_classic(at);
  end_bytes_ = at;
  offsets_are_fixed_ = true;
  return true;
}

void Assembly::put_at_fixed_offset(std::uint64_t offset_bytes, std::uint32_t size_bytes,
                                   std::span<std::byte const> bytes) {
  if (bytes.size() != size_bytes) {
    throw Error(ErrorKind::device, "a tile has another size than was announced", {.source = sink_.name()});
  }
  sink_.write_at(offset_bytes - tiff::kTileFrameBytes, tiff::tile_leader(size_bytes));
  sink_.write_at(offset_bytes, bytes);
  sink_.write_at(offset_bytes + size_bytes, tiff::tile_trailer(bytes));
}

void Assembly::add(BlockPlaces& places, std::size_t level, TileId block, std::span<std::byte const> bytes) {
  ++report_.tiles;
  if (bytes.empty()) {
    ++report_.sparse_tiles;
    return;
  }
  std::uint64_t const index = index_of(level, block);
  report_.compressed_bytes += bytes.size();
  if (offsets_are_fixed_) { return put_at_fixed_offset(places.offsets_bytes[index], places.sizes_bytes[index], bytes); }
  places.sizes_bytes[index] = static_cast<std::uint32_t>(bytes.size());
  if (plan_.options.cog) {
    io::Spool& spool = spool_of(level, block.plane);
    spool.append(tiff::tile_leader(static_cast<std::uint32_t>(bytes.size())));
    places.offsets_bytes[index] = spool.append(bytes);
    spool.append(tiff::tile_trailer(bytes));
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
  char const* const what =
      start_bytes_ == 0 ? "the file exceeds 4 GiB, the limit of a classic TIFF file: use BigTiff::automatic"
                        : "with its overviews the file exceeds 4 GiB, the limit of a classic TIFF file: write them "
                          "beside it (OverviewPlace::external), or convert it with BigTiff::always";
  throw Error(ErrorKind::limit, what, {.source = sink_.name()});
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
  std::vector<std::byte> const front = encode_directories(moments);
  sink_.write_at(start_bytes_, front);
  if (!spools_.empty()) {
    report_.spool_way = spools_.front().way() == SpoolWay::memory ? "memory" : "unnamed file";
    spools_.front().place(start_bytes_ + front.size());
  }
}

void Assembly::finish_cog(std::span<Moments const> moments) {
  std::uint64_t const data = directories_end_bytes() + kSlackBytes;
  if (offsets_are_fixed_) {
    std::vector<std::byte> front = encode_directories(moments);
    front.resize(data);
    sink_.write_at(0, front);
    return;
  }
  // The start of each spool in the file: small overviews first, the raster last.
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
  std::vector<std::byte> front = encode_directories(moments);
  front.resize(data);
  io::Spool& raster = spool_of(0, 0);
  report_.spool_way = raster.way() == SpoolWay::memory     ? "memory"
                      : raster.way() == SpoolWay::in_place ? "in place"
                                                           : "unnamed file";
  // A raster that is spooled in the file itself is moved up before bytes are written in front of it.
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
