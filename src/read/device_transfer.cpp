// SPDX-License-Identifier: Apache-2.0
#include "read/device_transfer.hpp"

#include "base/thread_pool.hpp"
#include "gpu/kernels/place.hpp"
#include "gpu/runtime/check.hpp"
#include "gpu/runtime/device_memory.hpp"
#include "gpu/runtime/guarded_wait.hpp"
#include "gpu/runtime/pinned_pool.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

namespace terrazzo::reading {

namespace {

constexpr std::size_t kChunkBytes = gpu::PinnedPool::kChunkBytes;

// Calls body(offset, bytes) for every chunk, on several threads with the caller's device.
template <class Body>
void for_each_chunk(std::size_t bytes, unsigned threads, Body const& body) {
  int device = 0;
  gpu::check_cuda(cudaGetDevice(&device), "asking for the current device");
  std::size_t const chunks = (bytes + kChunkBytes - 1) / kChunkBytes;
  std::atomic<std::size_t> next{0};
  run_on_pool(static_cast<unsigned>(std::min<std::size_t>(threads, chunks)), [&](unsigned) {
    gpu::check_cuda(cudaSetDevice(device), "choosing the device");
    for (std::size_t c = next++; c < chunks; c = next++) {
      body(c * kChunkBytes, std::min(kChunkBytes, bytes - c * kChunkBytes));
    }
  });
}

}  // namespace

void upload(std::span<std::byte const> from, std::byte* to, unsigned threads, cudaStream_t stream) {
  for_each_chunk(from.size(), threads, [&](std::size_t at, std::size_t bytes) {
    gpu::PinnedPool::Chunk chunk = gpu::PinnedPool::instance().acquire();
    std::memcpy(chunk.data(), from.data() + at, bytes);
    gpu::check_cuda(cudaMemcpyAsync(to + at, chunk.data(), bytes, cudaMemcpyHostToDevice, stream), "uploading pixels");
    chunk.release_after(stream);
  });
}

void download(std::byte const* from, std::span<std::byte> to, unsigned threads, cudaStream_t stream) {
  gpu::sync_callers_stream(stream, "waiting for a result");
  for_each_chunk(to.size(), threads, [&](std::size_t at, std::size_t bytes) {
    thread_local gpu::StreamHandle own = gpu::make_stream();
    gpu::PinnedPool::Chunk chunk = gpu::PinnedPool::instance().acquire();
    gpu::check_cuda(cudaMemcpyAsync(chunk.data(), from + at, bytes, cudaMemcpyDeviceToHost, own.get()),
                    "downloading pixels");
    gpu::sync_stream(own.get(), "downloading pixels");
    std::memcpy(to.data() + at, chunk.data(), bytes);
  });
}

void upload_rectangle(HostArray const& pixels, std::span<std::size_t const> bands, tile::ResultFormat const& result,
                      std::int64_t destination_offset_bytes, unsigned threads, DeviceAllocator& allocator,
                      cudaStream_t stream) {
  std::size_t const sample = result.sample_bytes;
  std::size_t const plane_bytes = sample * pixels.width() * pixels.height();
  // One plane after the other, as tiles whose samples are finished; behind them the list of where they go.
  std::vector<tile::Placement> placements(bands.size());
  std::vector<tile::BandTarget> targets(1);
  for (std::size_t i = 0; i < bands.size(); ++i) {
    placements[i].source_offset_bytes = plane_bytes * i;
    placements[i].destination_offset_bytes =
        destination_offset_bytes + static_cast<std::int64_t>(bands[i]) * result.band_stride_bytes;
    placements[i].rows = pixels.height();
    placements[i].columns = pixels.width();
  }
  std::size_t const list_at = (pixels.bytes().size() + 255) / 256 * 256;
  std::size_t const list_bytes = placements.size() * sizeof(tile::Placement);
  std::size_t const target_at = (list_at + list_bytes + 255) / 256 * 256;
  gpu::DeviceBuffer buffer(allocator, target_at + sizeof(tile::BandTarget), stream);
  upload(pixels.bytes(), buffer.data(), threads, stream);
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
