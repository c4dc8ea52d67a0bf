// SPDX-License-Identifier: Apache-2.0
//
// A batch of tiles in device memory, for a decoder: one input buffer, one output buffer, and one array each of
// offsets and sizes. Every pointer is a device pointer; nothing is owned. Decoders use the given stream, allocate
// nothing, do not wait, and write a status per tile.
#pragma once

#include "tile/tile_status.hpp"

#include <cstddef>
#include <cstdint>

namespace terrazzo::tile {

struct DeviceTiles {
  std::byte const* input = nullptr;
  std::uint64_t const* input_offsets = nullptr;  // in `input`; a multiple of 16, or as the codec's framing requires
  std::uint64_t const* input_sizes = nullptr;
  std::byte* output = nullptr;
  std::uint64_t const* output_offsets = nullptr;  // in `output`; a multiple of 16
  std::uint64_t const* output_sizes = nullptr;  // decoded size of the tile
  TileStatus* statuses = nullptr;  // written for every tile; only `ok` output may be used
  std::uint32_t count = 0;
};

// A batch for an encoder: samples of every tile in, compressed bytes out. A tile without input is sparse: it is skipped
// and gets no output. The host encodes tiles whose status is not `ok`.
struct EncodeBatch {
  std::byte const* input = nullptr;
  std::uint64_t const* input_offsets = nullptr;  // in `input`; a multiple of 16
  std::uint64_t const* input_sizes = nullptr;
  std::byte* output = nullptr;
  std::uint64_t const* output_offsets = nullptr;  // in `output`; a multiple of 16, plus the codec's phase
  std::uint64_t* output_sizes = nullptr;  // written for every tile; 0 if the status is not `ok`
  TileStatus* statuses = nullptr;  // written for every tile
  std::uint32_t count = 0;
  std::uint64_t longest_input_bytes = 0;
};

}  // namespace terrazzo::tile
