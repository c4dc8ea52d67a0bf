// SPDX-License-Identifier: Apache-2.0
#include "gpu/vendor/encode_lanes.hpp"

#include "base/checked.hpp"
#include "base/thread_pool.hpp"
#include "gpu/runtime/check.hpp"
#include "gpu/runtime/guarded_wait.hpp"

#include <algorithm>
#include <atomic>
#include <optional>

namespace terrazzo::gpu {
namespace {

// Streams differ a little in size: staging that grows in these steps soon stops growing.
constexpr std::uint64_t kStagingStepBytes = 64 * 1024;

}  // namespace

struct EncodeLanes::HostBatch {
  std::uint64_t* input_offsets;
  std::uint64_t* input_sizes;
  std::uint64_t* output_offsets;
  std::uint64_t* output_sizes;
  tile::TileStatus* statuses;
};

EncodeLanes::EncodeLanes(unsigned lanes, unsigned host_threads, BlockPool& pinned_pool)
    : arrays_(pinned_pool), ready_(make_event()), done_(make_event()) {
  for (unsigned i = 0; i < std::max(1u, lanes); ++i) { lanes_.push_back(std::make_unique<Lane>(pinned_pool)); }
  host_threads_ = std::clamp(host_threads, 1u, static_cast<unsigned>(lanes_.size()));
}

EncodeLanes::~EncodeLanes() {  // waits: the GPU may still use the members
  for (auto const& lane : lanes_) { (void)sync_quietly(lane->stream.get()); }
  (void)sync_quietly(done_.get());
}

// Copies the stream of a lane's tile to its slot. The tile is `failed` until the copy is queued.
void EncodeLanes::finish(LaneEncoder& encoder, std::size_t lane_number, tile::EncodeBatch const& batch,
                         HostBatch const& host, std::uint32_t tile, std::uint64_t slot_bytes) {
  Lane& lane = *lanes_[lane_number];
  cudaStream_t const stream = lane.stream.get();
  std::size_t const size = encoder.encoded_bytes(lane_number, stream);
  // Removing headers may make the stream fit in the slot, but saves at most this much.
  if (size == 0 || size > slot_bytes + kStagingStepBytes) { return; }
  std::byte* const staging = lane.staging.reserve(round_up(std::uint64_t{size}, kStagingStepBytes), "encoded tiles");
  bool const fetched = encoder.fetch(lane_number, {staging, size}, stream);
  check_cuda(cudaEventRecord(lane.idle.get(), stream), "recording an encoded tile");
  sync_event(lane.idle.get(), "fetching an encoded tile");
  if (!fetched) { return; }
  std::span<std::byte const> const accepted = encoder.accept({staging, size});
  if (accepted.empty() || accepted.size() > slot_bytes) { return; }
  check_cuda(cudaMemcpyAsync(batch.output + host.output_offsets[tile], accepted.data(), accepted.size(),
                             cudaMemcpyHostToDevice, stream),
             "uploading an encoded tile");
  check_cuda(cudaEventRecord(lane.idle.get(), stream), "recording an encoded tile");
  host.output_sizes[tile] = accepted.size();
  host.statuses[tile] = tile::TileStatus::ok;
}

void EncodeLanes::encode_all(LaneEncoder& encoder, tile::EncodeBatch const& batch, HostBatch const& host,
                             std::uint64_t tile_bytes, std::uint64_t slot_bytes) {
  int device = 0;
  check_cuda(cudaGetDevice(&device), "asking for the device");
  unsigned const threads = host_threads_;
  std::atomic<std::uint32_t> next{0};
  run_on_pool(threads, [&](unsigned worker) {
    check_cuda(cudaSetDevice(device), "choosing the device");
    // Each worker cycles through its own lanes; a free worker takes the next tile.
    std::size_t const first = lanes_.size() * worker / threads;
    std::size_t const end = lanes_.size() * (worker + 1) / threads;
    std::vector<std::optional<std::uint32_t>> in_flight(end - first);
    auto const settle = [&](std::size_t lane) {
      sync_event(lanes_[lane]->idle.get(), "waiting for an encoder's lane");
      if (auto& tile = in_flight[lane - first]) {
        finish(encoder, lane, batch, host, *tile, slot_bytes);
        tile.reset();
      }
    };
    std::size_t lane = first;
    for (std::uint32_t i = next++; i < batch.count; i = next++) {
      host.output_sizes[i] = 0;
      host.statuses[i] = host.input_sizes[i] == 0            ? tile::TileStatus::sparse
                         : host.input_sizes[i] != tile_bytes ? tile::TileStatus::unsupported
                                                             : tile::TileStatus::failed;
      if (host.statuses[i] != tile::TileStatus::failed) { continue; }
      settle(lane);
      // The upload of the lane's last tile may be in progress; later work is queued after it.
      cudaStream_t const stream = lanes_[lane]->stream.get();
      if (encoder.start(lane, batch.input + host.input_offsets[i], stream)) { in_flight[lane - first] = i; }
      check_cuda(cudaEventRecord(lanes_[lane]->idle.get(), stream), "recording a lane");
      lane = lane + 1 == end ? first : lane + 1;
    }
    for (std::size_t i = first; i < end; ++i) { settle(i); }
  });
}

void EncodeLanes::encode(LaneEncoder& encoder, tile::EncodeBatch const& batch, std::uint64_t tile_bytes,
                         std::uint64_t slot_bytes, cudaStream_t stream) {
  if (batch.count == 0) { return; }
  sync_event(done_.get(), "waiting for the last batch of an encoder");
  std::size_t const count = batch.count;
  std::size_t const array_bytes = count * sizeof(std::uint64_t);
  std::byte* const memory = arrays_.reserve(4 * array_bytes + count, "sizes of encoded tiles");
  auto const array = [&](std::size_t i) { return reinterpret_cast<std::uint64_t*>(memory + i * array_bytes); };
  HostBatch const host{array(0), array(1), array(2), array(3),
                       reinterpret_cast<tile::TileStatus*>(memory + 4 * array_bytes)};
  auto const copy = [&](void* to, void const* from, std::size_t bytes, cudaMemcpyKind kind) {
    check_cuda(cudaMemcpyAsync(to, from, bytes, kind, stream), "copying the sizes of a batch");
  };
  copy(host.input_offsets, batch.input_offsets, array_bytes, cudaMemcpyDeviceToHost);
  copy(host.input_sizes, batch.input_sizes, array_bytes, cudaMemcpyDeviceToHost);
  copy(host.output_offsets, batch.output_offsets, array_bytes, cudaMemcpyDeviceToHost);
  check_cuda(cudaEventRecord(ready_.get(), stream), "recording the caller's stream");
  sync_event(ready_.get(), "waiting for the tiles of a batch");

  try {
    encode_all(encoder, batch, host, tile_bytes, slot_bytes);
  } catch (...) {  // lanes may still use the batch, which the caller may free
    for (auto const& lane : lanes_) { (void)sync_quietly(lane->stream.get()); }
    throw;
  }
  for (auto const& lane : lanes_) { wait_for(stream, lane->stream.get(), lane->idle.get()); }
  copy(batch.output_sizes, host.output_sizes, array_bytes, cudaMemcpyHostToDevice);
  copy(batch.statuses, host.statuses, count * sizeof(tile::TileStatus), cudaMemcpyHostToDevice);
  check_cuda(cudaEventRecord(done_.get(), stream), "recording the end of a batch");
}

}  // namespace terrazzo::gpu
