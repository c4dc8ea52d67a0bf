// SPDX-License-Identifier: Apache-2.0
//
// A batch of tiles is one buffer: one contiguous piece of memory, and for every tile an offset, a size and a status.
// Stages take whole batches, so there is one allocation and one read per batch, never per tile.
#pragma once

#include "tile/tile_status.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace terrazzo::tile {

struct BatchItem {
  std::uint64_t tile = 0;         // index of the tile (or strip) in its image
  std::size_t offset_bytes = 0;   // in the batch's buffer
  std::size_t size_bytes = 0;
  TileStatus status = TileStatus::ok;
  char const* reason = nullptr;   // static text, when status is neither ok nor sparse
};

struct TileBatch {
  std::span<std::byte const> buffer{};  // owned by the function that filled the batch
  std::vector<BatchItem> items{};

  [[nodiscard]] std::span<std::byte const> bytes_of(BatchItem const& item) const noexcept {
    return buffer.subspan(item.offset_bytes, item.size_bytes);
  }
};

}  // namespace terrazzo::tile
