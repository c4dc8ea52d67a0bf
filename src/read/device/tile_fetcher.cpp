// SPDX-License-Identifier: Apache-2.0
#include "read/device/tile_fetcher.hpp"

#include "base/text.hpp"
#include "gpu/runtime/check.hpp"
#include "gpu/runtime/guarded_wait.hpp"
#include "gpu/runtime/pinned_pool.hpp"
#include "gpu/transfer/upload.hpp"
#include "io/file_source.hpp"
#include "terrazzo/error.hpp"

#include <cuda_runtime_api.h>

#include <utility>

namespace terrazzo::reading {

namespace {

constexpr char kUploading[] = "uploading tiles";  // for errors

// The bytes of the piece's tiles, one run of tiles of one source after the other: body(source, file offset, offset from
// the piece's beginning, bytes), then flush(source) at the end of each run.
template <class Body, class Flush>
void for_each_range(DeviceWork const& work, DeviceMethod method, Piece const& piece, Body const& body,
                    Flush const& flush) {
  ByteSource const* source = nullptr;
  for (std::size_t t = piece.first_tile; t < piece.first_tile + piece.tile_count; ++t) {
    WorkTile const& tile = work.tiles[t];
    if (tile.level->source.get() != source) {
      if (source != nullptr) { flush(*source); }
      source = tile.level->source.get();
    }
    // A piece with one tile may be a part of that tile.
    std::uint64_t const bytes = piece.tile_count == 1 ? piece.bytes : tile.size_bytes;
    body(tile.offset_bytes + piece.skip_bytes, place_in_input(tile, method) + piece.skip_bytes - piece.begin,
         static_cast<std::size_t>(bytes));
  }
  if (source != nullptr) { flush(*source); }
}

}  // namespace

TileFetcher::TileFetcher(DeviceWork const& work, DeviceMethod method, bool host_input, DeviceFetch wanted)
    : work_(work), method_(method), host_input_(host_input) {
  // The pinned pool is the default: it was faster in all measurements (docs/performance.md).
  if (wanted != DeviceFetch::kvikio || host_input || work.device_tiles == 0) { return; }
  if (!io::kvikio_state().found) {
    throw Error(ErrorKind::unsupported, text("kvikIO was asked for: ", io::kvikio_state().hint));
  }
  for (std::size_t t = 0; t < work.device_tiles; ++t) {
    ByteSource const* const source = work.tiles[t].level->source.get();
    if (files_.contains(source)) { continue; }
    if (dynamic_cast<io::FileSource const*>(source) == nullptr) {
      throw Error(ErrorKind::unsupported, "kvikIO was asked for, and reads local files only",
                  {.source = source->name()});
    }
    files_.emplace(source, io::KvikioFile::open(source->name()));
  }
}

void TileFetcher::prepare(DeviceSlot& slot) {
  if (files_.empty()) { return; }
  pending_[&slot];
  // kvikIO uses its own streams: wait until the slot's memory, allocated in the order of its stream, is available.
  gpu::sync_stream(slot.stream.get(), "waiting for device memory");
}

void TileFetcher::fetch(Piece const& piece, DeviceSlot& slot, std::byte* input) {
  if (host_input_) { return read(piece, input + piece.begin); }
  if (!files_.empty()) { return submit_to_kvikio(piece, slot, input); }
  gpu::PinnedPool::Chunk chunk = gpu::PinnedPool::instance().acquire();
  read(piece, chunk.data());
  gpu::send(std::move(chunk), input + piece.begin, static_cast<std::size_t>(piece.bytes), slot.stream.get(),
            kUploading);
}

void TileFetcher::read(Piece const& piece, std::byte* to) const {
  thread_local std::vector<RangeRead> ranges;
  ranges.clear();
  for_each_range(
      work_, method_, piece,
      [&](std::uint64_t offset, std::uint64_t into, std::size_t bytes) {
        ranges.push_back({offset, {to + into, bytes}});
      },
      [&](ByteSource const& source) {
        source.submit(ranges).wait();
        ranges.clear();
      });
}

void TileFetcher::upload(Piece const& piece, std::byte const* from, DeviceSlot& slot, std::byte* input) const {
  gpu::check_cuda(cudaMemcpyAsync(input + piece.begin, from, static_cast<std::size_t>(piece.bytes),
                                  cudaMemcpyHostToDevice, slot.stream.get()),
                  kUploading);
}

void TileFetcher::submit_to_kvikio(Piece const& piece, DeviceSlot& slot, std::byte* input) {
  std::vector<io::DeviceRange> ranges;
  Pending& pending = pending_.at(&slot);
  for_each_range(
      work_, method_, piece,
      [&](std::uint64_t offset, std::uint64_t into, std::size_t bytes) {
        ranges.push_back({offset, input + piece.begin + into, bytes});
      },
      [&](ByteSource const& source) {
        io::KvikioReads reads = files_.at(&source)->submit(ranges);
        ranges.clear();
        std::lock_guard const lock(pending.mutex);
        pending.reads.push_back(std::move(reads));
      });
}

void TileFetcher::complete(DeviceSlot& slot) {
  if (files_.empty()) { return; }
  std::vector<io::KvikioReads> reads;
  {
    Pending& pending = pending_.at(&slot);
    std::lock_guard const lock(pending.mutex);
    reads = std::exchange(pending.reads, {});
  }
  for (io::KvikioReads& read : reads) { read.wait(); }
}

}  // namespace terrazzo::reading
