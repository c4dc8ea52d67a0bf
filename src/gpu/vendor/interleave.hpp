// SPDX-License-Identifier: Apache-2.0
//
// Converts planes, the output of image decoders, to pixels with interleaved samples, as TIFF stores them.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace terrazzo::gpu {

// In `output_offsets`: the tile was not decoded; its output stays unchanged.
inline constexpr std::uint64_t kSkipTile = ~std::uint64_t{0};

// Equal tiles in one pool of planes. Pointers are device pointers, `output_offsets` included.
struct PlanarTiles {
  std::byte const* planes = nullptr;
  std::uint64_t tile_stride_bytes = 0;
  std::uint64_t plane_stride_bytes = 0;
  std::uint64_t plane_pitch_bytes = 0;
  std::uint32_t plane_sample_bytes = 1;  // 1 or 2
  std::uint32_t width_px = 0;
  std::uint32_t height_px = 0;
  std::uint32_t samples = 1;
  std::byte* output = nullptr;
  std::uint64_t const* output_offsets = nullptr;
  std::uint64_t output_pitch_bytes = 0;
  std::uint32_t output_sample_bytes = 1;  // 1 or 2, at most that of the planes: the low bytes are used
  std::uint32_t count = 0;
};

void interleave_tiles(PlanarTiles const& tiles, cudaStream_t stream);

}  // namespace terrazzo::gpu
