// SPDX-License-Identifier: Apache-2.0
//
// Makes a file from the tiles of another one, copied byte for byte: the same or changed directories, in a new layout.
// Sizes of tiles are known in advance, so every tile goes straight to its place.
#pragma once

#include "terrazzo/sink.hpp"
#include "terrazzo/source.hpp"
#include "terrazzo/write.hpp"
#include "tiff/block_index.hpp"
#include "tiff/directory_writer.hpp"
#include "tiff/image.hpp"

#include <atomic>
#include <bit>
#include <vector>

namespace terrazzo::writing {

struct CopiedImage {
  tiff::TagSet tags{};  // tags of tile places are set again
  tiff::Image image{};
  tiff::BlockIndex index;
  bool is_mask = false;
};

struct RewritePlan {
  // In the order of the directories. In a COG, the raster comes first, then overviews from large to small, a mask right
  // after its image.
  std::vector<CopiedImage> images{};
  bool cog = false;  // a COG's layout with slack; otherwise directories, then tiles in their order
  bool bigtiff = false;
  std::endian order = std::endian::little;  // byte order of the source: its tiles are copied unchanged
  Progress progress{};
  std::atomic<bool> const* cancel = nullptr;
};

// The sink is open; the caller publishes it. Throws `limit` if a classic file would exceed 4 GiB, `malformed` if a tile
// lies outside the source.
[[nodiscard]] WriteReport rewrite(RewritePlan const& plan, ByteSource const& source, ByteSink& sink);

}  // namespace terrazzo::writing
