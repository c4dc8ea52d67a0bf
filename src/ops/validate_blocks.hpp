// SPDX-License-Identifier: Apache-2.0
//
// Rules about single tiles (and strips): inside the file, in order, with the leaders and trailers that the ghost area
// promises, masks beside their images. One pass through the tile indexes, in chunks; the leaders and trailers of a
// chunk are fetched by several threads, then judged in order, so that findings do not depend on the threads.
#pragma once

#include "ops/validate_images.hpp"
#include "ops/validate_overlap.hpp"

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

// Tiles that check_blocks() will look at. An honest file has bytes of index for each tile; directories that share one
// index could make a small file list billions, so the sum is bounded by the size of the file.
[[nodiscard]] std::uint64_t checkable_blocks(CheckedFile const& file) noexcept;

}  // namespace terrazzo::ops
