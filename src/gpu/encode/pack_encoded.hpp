// SPDX-License-Identifier: Apache-2.0
//
// Gathers an encoder's output for a batch in one packed buffer, without a round trip to the host: one copy brings all
// of it to the host, after one read of sizes and statuses. Thread-safe; allocates nothing and never waits.
#pragma once

#include "base/host_device.hpp"
#include "tile/device_tiles.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace terrazzo::gpu {

struct PackedTile {
  std::uint64_t offset = 0;  // in the packed buffer; 0 for an empty tile
  std::uint64_t size = 0;  // 0: sparse
  // `ok`: compressed bytes; `sparse`: none; others: the tile's raw input.
  tile::TileStatus status = tile::TileStatus::ok;
};

// Upper bound for the packed tiles of a batch if each has at most `largest_bytes` (raw or compressed).
[[nodiscard]] constexpr std::uint64_t packed_bound(std::uint32_t count, std::uint64_t largest_bytes) noexcept {
  return std::uint64_t{count} * (largest_bytes + 32);
}

// The packed bytes of a tile and their room: an offset has the same remainder modulo 16 as the source's address, so
// that copies are 16 bytes wide.
struct PackSource {
  std::byte const* from = nullptr;
  std::uint64_t size = 0;
  tile::TileStatus status = tile::TileStatus::ok;

  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint64_t phase() const noexcept {
    return reinterpret_cast<std::uintptr_t>(from) % 16;
  }
  // From one multiple of 16 to another: at most 30 bytes more than the tile.
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint64_t room() const noexcept {
    return size == 0 ? 0 : (phase() + size + 15) / 16 * 16;
  }
};

[[nodiscard]] TERRAZZO_HOST_DEVICE inline PackSource pack_source(tile::EncodeBatch const& batch,
                                                                 std::uint32_t i) noexcept {
  tile::TileStatus const status = batch.statuses[i];
  if (status == tile::TileStatus::sparse) { return {nullptr, 0, status}; }
  std::uint64_t const encoded = batch.output_sizes[i];
  if (status == tile::TileStatus::ok && encoded != 0) {
    return {batch.output + batch.output_offsets[i], encoded, status};
  }
  // A tile without output was not encoded; a size of 0 would read as sparse, so pack its raw input.
  return {batch.input + batch.input_offsets[i], batch.input_sizes[i],
          status == tile::TileStatus::ok ? tile::TileStatus::failed : status};
}

// Fills `packed` and `places` (of batch.count). Tiles are in the order of the batch, with gaps below 32 bytes that are
// not written. All pointers are device pointers; align `packed` to 16 bytes for speed. `batch.longest_input_bytes` only
// sets the number of blocks that share a tile.
void pack_encoded(tile::EncodeBatch const& batch, std::byte* packed, PackedTile* places, cudaStream_t stream);

}  // namespace terrazzo::gpu
