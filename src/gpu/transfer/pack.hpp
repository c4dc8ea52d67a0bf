// SPDX-License-Identifier: Apache-2.0
//
// Gathers chosen tiles of a batch from its input into one packed buffer, for one copy to the host.
// Thread-safe; allocates nothing and never waits.
#pragma once

#include "tile/device_tiles.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace terrazzo::gpu {

// Every pointer is a device pointer.
struct PackList {
  std::uint32_t const* tiles = nullptr;  // indices of the chosen tiles in the batch
  std::uint64_t const* packed_offsets = nullptr;  // offset of each in `packed`; any, but multiples of 16 are fastest
  std::byte* packed = nullptr;
  std::uint32_t count = 0;
  std::uint64_t longest_bytes = 0;  // largest chosen tile: sets how many blocks share a tile
};

// Copies input_sizes[t] bytes of each chosen tile t. Only `input`, `input_offsets`, `input_sizes` and `count` of
// `tiles` are read. Throws `device` if the launch fails.
void pack_tiles(tile::DeviceTiles const& tiles, PackList const& list, cudaStream_t stream);

}  // namespace terrazzo::gpu
