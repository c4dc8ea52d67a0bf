// SPDX-License-Identifier: Apache-2.0
//
// Writes encoded blocks to their places and the directories around them. Two layouts, one interface:
// - plain: header, directories, then blocks in the order of arrival. The size of the head is known before the first
//   block; the head is written at the end.
// - COG: header, GDAL's ghost area, directories, slack, overviews from small to large, the raster. Blocks of each level
//   wait in a separate spool. docs/writing.md has the layout byte by byte.
//
// Plain blocks and directories can also be appended to an existing file: then there is no header, and the caller links
// the first directory to the others.
//
// The bytes of the file are independent of the sink and of the way of spooling. Thread rule: one thread at a time.
#pragma once

#include "io/spool.hpp"
#include "terrazzo/sink.hpp"
#include "write/layout/file_head.hpp"
#include "write/plan/file_plan.hpp"
#include "write/plan/file_tags.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace terrazzo::writing {

// The size of a compressed block in the file; 0: sparse, or no mask.
struct BlockSize {
  std::size_t level = 0;
  TileId id{};
  std::uint32_t image_bytes = 0, mask_bytes = 0;
};

class Assembly {
 public:
  // The sink is open. Plan and sink outlive the assembly. `start_bytes`: 0 for a new file; otherwise the offset of the
  // first directory in an existing file, a multiple of 8; not for a COG.
  Assembly(FilePlan const& plan, ByteSink& sink, std::uint64_t start_bytes = 0);
  // With tags that were made from an equal plan.
  Assembly(FilePlan const& plan, ByteSink& sink, FileTags tags, std::uint64_t start_bytes = 0);

  // Adds a block. In a COG, blocks of one plane of a level come in the order of the index; otherwise in any order, once
  // each. Empty bytes: sparse.
  void add_image(std::size_t level, TileId block, std::span<std::byte const> bytes);
  void add_mask(std::size_t level, TileId block, std::span<std::byte const> bytes);

  // For a COG whose blocks are all compressed before the first is added: every block then goes straight to its place,
  // in any order, and nothing waits. False, and nothing has changed, where that cannot be: no COG, or a sink that only
  // appends.
  [[nodiscard]] bool fix_offsets(std::span<BlockSize const> sizes);

  // Writes the rest of the file. The caller adds its own counts to the report, and publishes the file.
  [[nodiscard]] WriteReport finish(std::span<Moments const> moments);

 private:
  [[nodiscard]] std::vector<tiff::TagSet> all_tags(std::span<Moments const> moments) const;
  [[nodiscard]] FileHeadFormat front_format() const noexcept;
  [[nodiscard]] std::vector<std::byte> encode_directories(std::span<Moments const> moments) const;
  // The end of the last directory: known before the first block.
  [[nodiscard]] std::uint64_t directories_end_bytes() const;
  [[nodiscard]] std::uint64_t index_of(std::size_t level, TileId block) const noexcept;
  void put_at_fixed_offset(std::uint64_t offset_bytes, std::uint32_t size_bytes, std::span<std::byte const> bytes);
  [[nodiscard]] io::Spool& spool_of(std::size_t level, std::uint32_t plane);
  void add(BlockPlaces& places, std::size_t level, TileId block, std::span<std::byte const> bytes);
  void finish_plain(std::span<Moments const> moments);
  void finish_cog(std::span<Moments const> moments);
  void check_classic(std::uint64_t end_bytes) const;

  FilePlan const& plan_;
  ByteSink& sink_;
  std::uint64_t start_bytes_;
  FileTags tags_;
  std::vector<BlockPlaces> image_places_, mask_places_;  // offsets: in the spool until the end, if there is one
  io::SpoolQuota quota_;
  std::deque<io::Spool> spools_;  // COG: one for each plane of each level; plain: one, for sinks that only append
  bool offsets_are_fixed_ = false;
  std::uint64_t end_bytes_ = 0;  // plain: where the next block goes; at the end: the size of the file
  WriteReport report_{};
};

}  // namespace terrazzo::writing
