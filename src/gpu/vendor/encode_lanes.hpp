// SPDX-License-Identifier: Apache-2.0
//
// A batch of tiles through an encoder of the vendor that takes one image at a time: K encoder states on K streams
// ("lanes"), driven by a few host threads, each lane used again when its own event says that it is idle. Nothing waits
// for the device or for the caller's stream per tile, and nothing is allocated per tile.
//
// The libraries know a stream's size only after its encode and hand it to the host; so the bytes of a tile come to the
// lane's pinned staging, are checked there, and go to the tile's slot on the device, from where pack_encoded() fetches
// all of a batch at once, raw tiles included. They cross the bus twice more than they must, which is little beside the
// encode, and the tiles' encoders are all alike to the caller.
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

  // Queues the encode of one tile. False: the library would not.
  virtual bool start(std::size_t lane, std::byte const* samples, cudaStream_t stream) = 0;
  // Size of the stream, when the encode is done; 0 when it failed. May wait for `stream`.
  virtual std::size_t encoded_bytes(std::size_t lane, cudaStream_t stream) = 0;
  // Queues the copy of the stream to `to`, of that size. False: the library would not.
  virtual bool fetch(std::size_t lane, std::span<std::byte> to, cudaStream_t stream) = 0;
  // The part of the stream that goes into the file; empty when it is not what was asked for.
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

  // Encodes the tiles of `tile_bytes` into slots of `slot_bytes`. Returns when the last tile is on its way to its slot;
  // slots, sizes and statuses are complete when `stream` gets there. Waits for `stream` once, at the beginning: where
  // the tiles are, and which are sparse, is known on the device only. Statuses: `ok`; `sparse` for a tile of no bytes;
  // `unsupported` for one of another size; `failed` for what the library would not do, did wrong, or made larger than
  // the slot. Throws `device`, and `limit` when pinned memory is refused.
  void encode(LaneEncoder& encoder, tile::EncodeBatch const& batch, std::uint64_t tile_bytes, std::uint64_t slot_bytes,
              cudaStream_t stream);

 private:
  struct Lane {
    explicit Lane(BlockPool& pool) : stream(make_stream()), idle(make_event()), staging(pool) {}
    StreamHandle stream;
    EventHandle idle;  // after all that was queued on the stream
    PoolBuffer staging;
  };
  struct HostBatch;  // the batch's arrays in pinned memory

  void encode_all(LaneEncoder& encoder, tile::EncodeBatch const& batch, HostBatch const& host, std::uint64_t tile_bytes,
                  std::uint64_t slot_bytes);
  void finish(LaneEncoder& encoder, std::size_t lane, tile::EncodeBatch const& batch, HostBatch const& host,
              std::uint32_t tile, std::uint64_t slot_bytes);

  unsigned host_threads_;
  PoolBuffer arrays_;
  EventHandle ready_;  // the caller's stream has come to this batch
  EventHandle done_;  // after the last batch
  std::vector<std::unique_ptr<Lane>> lanes_;
};

}  // namespace terrazzo::gpu
