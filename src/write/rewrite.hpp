// SPDX-License-Identifier: Apache-2.0
//
// A file out of the tiles of another one, copied byte for byte: the same directories, or changed ones, in a fresh
// layout. Sizes of tiles are known before, so everything goes straight to its place.
#pragma once

#include "base/byte_sink.hpp"
#include "base/byte_source.hpp"
#include "terrazzo/write.hpp"
#include "tiff/block_index.hpp"
#include "tiff/directory_writer.hpp"
#include "tiff/image.hpp"

#include <atomic>
#include <bit>
#include <vector>

namespace terrazzo::writing {

struct CopiedImage {
  tiff::TagSet tags{};  // those of its tiles' places are set anew
  tiff::Image image{};
  tiff::BlockIndex index;
  bool is_mask = false;
};

struct RewritePlan {
  // In the order of the directories. In a COG the raster comes first, overviews from large to small, a mask right
  // behind the image it belongs to.
  std::vector<CopiedImage> images{};
  bool cog = false;  // a COG's layout, slack included; else directories, then tiles as the directories are ordered
  bool bigtiff = false;
  std::endian order = std::endian::little;  // of the source: its tiles are as they are
  Progress progress{};
  std::atomic<bool> const* cancel = nullptr;
};

// The sink is open; publishing is the caller's. Throws `limit` when a classic file would pass 4 GiB, `malformed` when a
// tile lies outside the source.
[[nodiscard]] WriteReport rewrite(RewritePlan const& plan, ByteSource const& source, ByteSink& sink);

}  // namespace terrazzo::writing
