// SPDX-License-Identifier: Apache-2.0
#include "read/device/upload_planes.hpp"

#include "base/carver.hpp"
#include "gpu/place/place.hpp"
#include "gpu/runtime/check.hpp"
#include "gpu/runtime/device_memory.hpp"
#include "gpu/transfer/upload.hpp"

#include <vector>

namespace terrazzo::reading {

void upload_planes(HostArray const& pixels, std::span<std::int64_t const> destinations,
                   tile::ResultFormat const& result, unsigned threads,
                   std::shared_ptr<DeviceAllocator> const& allocator, cudaStream_t stream) {
  std::size_t const sample = result.sample_bytes;
  std::size_t const plane_bytes = sample * pixels.width() * pixels.height();
  // One plane after the other, as tiles whose samples are finished; behind them the list of where they go.
  std::vector<tile::Placement> placements(destinations.size());
  std::vector<tile::BandTarget> targets(1);
  for (std::size_t i = 0; i < destinations.size(); ++i) {
    placements[i].source_offset_bytes = plane_bytes * i;
    placements[i].destination_offset_bytes = destinations[i];
    placements[i].rows = pixels.height();
    placements[i].columns = pixels.width();
  }
  std::size_t const list_bytes = placements.size() * sizeof(tile::Placement);
  Carver parts;
  parts.place(pixels.bytes().size());
  std::size_t const list_at = parts.place(list_bytes);
  std::size_t const target_at = parts.place(sizeof(tile::BandTarget));
  gpu::DeviceBuffer buffer(allocator, parts.used(), stream);
  gpu::upload(pixels.bytes(), buffer.data(), threads, stream);
  gpu::check_cuda(
      cudaMemcpyAsync(buffer.data() + list_at, placements.data(), list_bytes, cudaMemcpyHostToDevice, stream),
      "uploading the plan");
  gpu::check_cuda(cudaMemcpyAsync(buffer.data() + target_at, targets.data(), sizeof(tile::BandTarget),
                                  cudaMemcpyHostToDevice, stream),
                  "uploading the plan");
  gpu::PlaceBatch place;
  place.decoded = buffer.data();
  place.format.dtype = result.dtype;
  place.format.width_px = pixels.width();
  place.format.bits = static_cast<std::uint32_t>(sample * 8);
  place.format.sample_bytes = result.sample_bytes;
  place.format.decoded_row_bytes = place.format.finished_row_bytes = sample * pixels.width();
  place.placements = reinterpret_cast<tile::Placement const*>(buffer.data() + list_at);
  place.placement_count = static_cast<std::uint32_t>(placements.size());
  place.max_rows = pixels.height();
  place.bands = reinterpret_cast<tile::BandTarget const*>(buffer.data() + target_at);
  place.result = result;
  place.result.bands = 1;
  place.result.separate_planes = false;
  place.result.plain = true;
  gpu::place_tiles(place, stream);
}

}  // namespace terrazzo::reading
