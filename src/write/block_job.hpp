// SPDX-License-Identifier: Apache-2.0
//
// A block that an engine cuts and encodes, and the finished block. Both write engines use them.
#pragma once

#include "base/moments.hpp"
#include "terrazzo/error.hpp"
#include "write/overviews/reduction.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace terrazzo::writing {

// Parts of a block that were cut elsewhere, each ready for its encoder; an empty part needs no encoding.
struct CutParts {
  std::span<std::byte const> image{}, mask{};
};

template <MemoryKind kind>
struct BlockJob {
  std::size_t level = 0;
  TileId id{};
  ConstRows<kind> const* rows = nullptr;  // rows of the level that contain the block's
  CutParts const* parts = nullptr;  // replaces rows; then statistics and sparseness are skipped
};

using HostBlockJob = BlockJob<MemoryKind::host>;
using DeviceBlockJob = BlockJob<MemoryKind::device>;

// One finished block. Empty bytes: sparse.
struct BlockResult {
  std::span<std::byte const> image{};
  std::span<std::byte const> mask{};
  bool has_mask = false;
  std::span<Moments const> moments{};  // one per band, if statistics are requested and the level is the raster
  std::uint32_t device_tiles = 0;  // how many of image and mask a device encoded
};

}  // namespace terrazzo::writing
