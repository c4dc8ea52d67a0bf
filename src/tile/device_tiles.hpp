// SPDX-License-Identifier: Apache-2.0
//
// A batch of tiles in device memory, as a decoder sees it: one input buffer, one output buffer, and one array each of
// offsets and sizes. Every pointer is a device pointer; nothing is owned. Decoders take the batch on a stream, allocate
// nothing, wait for nothing, and leave a status per tile.
#pragma once

#include "tile/tile_status.hpp"

#include <cstddef>
#include <cstdint>

namespace terrazzo::tile {

struct DeviceTiles {
  std::byte const* input = nullptr;
  std::uint64_t const* input_offsets = nullptr;  // in `input`; a multiple of 16, or what the codec's framing needs
  std::uint64_t const* input_sizes = nullptr;
  std::byte* output = nullptr;
  std::uint64_t const* output_offsets = nullptr;  // in `output`; a multiple of 16
  std::uint64_t const* output_sizes = nullptr;  // bytes that the tile must give
  TileStatus* statuses = nullptr;  // written for every tile; only `ok` output may be used
  std::uint32_t count = 0;
};

// The same for an encoder: the samples of every tile in, its compressed bytes out. A tile of no bytes is sparse: it is
// not looked at and gets none. What an encoder could not do has another status than `ok`; the host encodes it.
struct EncodeBatch {
  std::byte const* input = nullptr;
  std::uint64_t const* input_offsets = nullptr;  // in `input`; a multiple of 16
  std::uint64_t const* input_sizes = nullptr;
  std::byte* output = nullptr;
  std::uint64_t const* output_offsets = nullptr;  // in `output`; a multiple of 16, plus the codec's phase
  std::uint64_t* output_sizes = nullptr;  // written for every tile; 0 where the status is not `ok`
  TileStatus* statuses = nullptr;  // written for every tile
  std::uint32_t count = 0;
  std::uint64_t longest_input_bytes = 0;
};

}  // namespace terrazzo::tile
