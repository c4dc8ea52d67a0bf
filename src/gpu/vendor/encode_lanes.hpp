// SPDX-License-Identifier: Apache-2.0
//
// Encodes a batch of tiles with a vendor library that takes one image at a time: K encoder states on K streams
// ("lanes"), driven by a few host threads; a lane is reused when its event reports that it is idle. Per tile, nothing
// waits for the device or for the caller's stream, and nothing is allocated.
//
// The libraries report a stream's size to the host only after encoding. So the bytes of a tile are copied to the lane's
// pinned staging, are checked there, and go to the tile's slot on the device, from where pack_encoded() fetches all
// tiles of a batch at once, raw tiles included. The two extra transfers are cheap compared to the encode, and all
// encoders have the same interface.
//
// Thread rule: belongs to one thread at a time; it uses threads of the process's pool while it encodes.
#pragma once

#include "gpu/runtime/stream.hpp"
#include "gpu/vendor/block_pool.hpp"
#include "tile/device_tiles.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace terrazzo::gpu {

// One library's encoder with a state for each lane. Calls for different lanes come from different threads.
class LaneEncoder {
 public:
  virtual ~LaneEncoder() = default;

  // Queues the encode of one tile. Returns false if the library refused.
  virtual bool start(std::size_t lane, std::byte const* samples, cudaStream_t stream) = 0;
  // Size of the stream after the encode; 0 if it failed. May wait for `stream`.
  virtual std::size_t encoded_bytes(std::size_t lane, cudaStream_t stream) = 0;
  // Queues the copy of the stream to `to`, of that size. Returns false if the library refused.
  virtual bool fetch(std::size_t lane, std::span<std::byte> to, cudaStream_t stream) = 0;
  // The part of the stream to store in the file; empty if the stream differs from the request.
  virtual std::span<std::byte const> accept(std::span<std::byte> stream) const = 0;
};

class EncodeLanes {
 public:
  // The pool must outlive the lanes.
  EncodeLanes(unsigned lanes, unsigned host_threads, BlockPool& pinned_pool);
  ~EncodeLanes();
  EncodeLanes(EncodeLanes const&) = delete;
  EncodeLanes& operator=(EncodeLanes const&) = delete;

  [[nodiscard]] std::size_t count() const noexcept { return lanes_.size(); }
  [[nodiscard]] cudaStream_t stream(std::size_t lane) const noexcept { return lanes_[lane]->stream.get(); }

  // Encodes the tiles of `tile_bytes` into slots of `slot_bytes`. Returns when the copy of the last tile to its slot is
  // queued; slots, sizes and statuses are complete in the order of `stream`. Waits for `stream` once, at the beginning:
  // offsets and sizes of tiles are on the device only. Statuses: `ok`; `sparse` for empty tiles; `unsupported` for
  // another size; `failed` for tiles that the library refused, encoded wrongly, or made larger than the slot. Throws
  // `device`, and `limit` if pinned memory is refused.
  void encode(LaneEncoder& encoder, tile::EncodeBatch const& batch, std::uint64_t tile_bytes, std::uint64_t slot_bytes,
              cudaStream_t stream);

 private:
  struct Lane {
    explicit Lane(BlockPool& pool) : stream(make_stream()), idle(make_event()), staging(pool) {}
    StreamHandle stream;
    EventHandle idle;  // after all work queued on the stream
    PoolBuffer staging;
  };
  struct HostBatch;  // the batch's arrays in pinned memory

  void encode_all(LaneEncoder& encoder, tile::EncodeBatch const& batch, HostBatch const& host, std::uint64_t tile_bytes,
                  std::uint64_t slot_bytes);
  void finish(LaneEncoder& encoder, std::size_t lane, tile::EncodeBatch const& batch, HostBatch const& host,
              std::uint32_t tile, std::uint64_t slot_bytes);

  unsigned host_threads_;
  PoolBuffer arrays_;
  EventHandle ready_;  // the caller's stream has reached this batch
  EventHandle done_;  // after the last batch
  std::vector<std::unique_ptr<Lane>> lanes_;
};

}  // namespace terrazzo::gpu
