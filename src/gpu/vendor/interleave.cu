// SPDX-License-Identifier: Apache-2.0
#include "gpu/vendor/interleave.hpp"

#include "gpu/runtime/check.hpp"

#include <algorithm>

namespace terrazzo::gpu {
namespace {

constexpr unsigned kThreads = 256;
// Pixels per block: few enough to fill the device with a few tiles, enough to keep each block busy.
constexpr std::uint64_t kPixelsPerBlock = 4096;
constexpr std::uint64_t kMaxBlocksPerTile = 1024;

template <class PlaneSample, class OutputSample>
__global__ void interleave_kernel(PlanarTiles tiles) {
  std::uint64_t const offset = tiles.output_offsets[blockIdx.x];
  if (offset == kSkipTile) { return; }
  std::byte const* const planes = tiles.planes + blockIdx.x * tiles.tile_stride_bytes;
  std::byte* const output = tiles.output + offset;
  std::uint64_t const pixels = std::uint64_t{tiles.width_px} * tiles.height_px;
  std::uint64_t const stride = std::uint64_t{gridDim.y} * kThreads;
  for (std::uint64_t i = std::uint64_t{blockIdx.y} * kThreads + threadIdx.x; i < pixels; i += stride) {
    std::uint64_t const y = i / tiles.width_px;
    std::uint64_t const x = i - y * tiles.width_px;
    std::byte const* from = planes + y * tiles.plane_pitch_bytes + x * sizeof(PlaneSample);
    auto* const to = reinterpret_cast<OutputSample*>(output + y * tiles.output_pitch_bytes) + x * tiles.samples;
    for (std::uint32_t s = 0; s < tiles.samples; ++s, from += tiles.plane_stride_bytes) {
      to[s] = static_cast<OutputSample>(*reinterpret_cast<PlaneSample const*>(from));
    }
  }
}

}  // namespace

void interleave_tiles(PlanarTiles const& tiles, cudaStream_t stream) {
  std::uint64_t const pixels = std::uint64_t{tiles.width_px} * tiles.height_px;
  if (tiles.count == 0 || pixels == 0) { return; }
  std::uint64_t const per_tile = std::min((pixels + kPixelsPerBlock - 1) / kPixelsPerBlock, kMaxBlocksPerTile);
  dim3 const grid(tiles.count, static_cast<unsigned>(per_tile));
  if (tiles.plane_sample_bytes == 1) {
    interleave_kernel<std::uint8_t, std::uint8_t><<<grid, kThreads, 0, stream>>>(tiles);
  } else if (tiles.output_sample_bytes == 1) {
    interleave_kernel<std::uint16_t, std::uint8_t><<<grid, kThreads, 0, stream>>>(tiles);
  } else {
    interleave_kernel<std::uint16_t, std::uint16_t><<<grid, kThreads, 0, stream>>>(tiles);
  }
  check_launch("interleaving planes");
}

}  // namespace terrazzo::gpu
