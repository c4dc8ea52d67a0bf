// SPDX-License-Identifier: Apache-2.0
//
// The table from DeviceMethod to decoder.
#pragma once

#include "gpu/vendor/block_pool.hpp"
#include "gpu/vendor/nvjpeg.hpp"
#include "gpu/vendor/nvjpeg2k.hpp"
#include "read/device/batch_plan.hpp"
#include "read/device/work.hpp"
#include "tile/device_tiles.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace terrazzo::reading {

// True if the decoder reads its input from host memory and uploads it itself.
[[nodiscard]] bool takes_host_input(DeviceMethod method) noexcept;

// Decoders that keep state between batches. Each batch in flight has its own set, since a set belongs to one thread at
// a time.
class HostInputDecoders {
 public:
  explicit HostInputDecoders(std::shared_ptr<DeviceAllocator> const& allocator);

  // Decodes the tiles of a batch, whose bytes lie in pinned memory at input + input_offset. Statuses are final on
  // return; the pixels are complete in the order of `stream`. `input` stays valid until then.
  void decode(DeviceMethod method, tiff::Image const& image, std::byte* input, std::span<WorkTile const> tiles,
              std::byte* output, std::span<tile::TileStatus> statuses, cudaStream_t stream);

 private:
  gpu::AllocatorSource source_;
  std::unique_ptr<gpu::NvjpegDecoder> jpeg_;
  std::unique_ptr<gpu::Nvjpeg2kDecoder> jpeg2000_;
};

// Scratch that a batch needs in addition to its input and output.
[[nodiscard]] std::size_t decode_scratch_bytes(DeviceMethod method, DecodeLoad const& load);

// REQUIRES: !takes_host_input(method) and method is not raw.
void decode_on_device(DeviceMethod method, tile::DeviceTiles const& tiles, DecodeLoad const& load, std::byte* scratch,
                      std::size_t scratch_bytes, cudaStream_t stream);

[[nodiscard]] DeviceAbilities device_abilities();

}  // namespace terrazzo::reading
