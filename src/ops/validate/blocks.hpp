// SPDX-License-Identifier: Apache-2.0
//
// Rules about single tiles (and strips): inside the file, in order, with the leaders and trailers that the ghost area
// declares, masks beside their images. One pass through the tile indexes, in chunks; several threads fetch the leaders
// and trailers of a chunk, then one thread checks them in order, so that findings are independent of the threads.
#pragma once

#include "ops/validate/images.hpp"
#include "ops/validate/overlap.hpp"

#include <cstdint>
#include <functional>

namespace terrazzo::ops {

struct BlockCounts {
  std::uint64_t tiles = 0, sparse = 0;
};

// Fills first_tile_bytes and lowest_bytes of the images, and `extents` unless it is null. `advance(n)` is called after
// each chunk of n tiles and may throw.
BlockCounts check_blocks(CheckedFile& file, unsigned threads, ExtentList* extents, Findings& findings,
                         std::function<void(std::uint64_t)> const& advance);

// Tiles that check_blocks() will check. A valid file has bytes of index for each tile; directories that share one
// index could make a small file list billions, so the sum is bounded by the size of the file.
[[nodiscard]] std::uint64_t checkable_blocks(CheckedFile const& file) noexcept;

}  // namespace terrazzo::ops
