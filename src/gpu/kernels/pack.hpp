// SPDX-License-Identifier: Apache-2.0
//
// Chosen tiles of a batch, gathered from its input into one packed buffer: what goes back to the host goes in one copy.
// Any thread may call; nothing is allocated, nothing waits.
#pragma once

#include "tile/device_tiles.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace terrazzo::gpu {

// Every pointer is a device pointer.
struct PackList {
  std::uint32_t const* tiles = nullptr;  // numbers of the chosen tiles in the batch, each below its count
  std::uint64_t const* packed_offsets = nullptr;  // where each goes in `packed`; any, but 16-byte steps are fastest
  std::byte* packed = nullptr;
  std::uint32_t count = 0;
  std::uint64_t longest_bytes = 0;  // of the chosen tiles: sets how many blocks share a tile
};

// Copies input_sizes[t] bytes of each chosen tile t. Only `input`, `input_offsets`, `input_sizes` and `count` of
// `tiles` are looked at. Throws `device` when the launch fails.
void pack_tiles(tile::DeviceTiles const& tiles, PackList const& list, cudaStream_t stream);

}  // namespace terrazzo::gpu
