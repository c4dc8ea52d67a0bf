// SPDX-License-Identifier: Apache-2.0
#include "gpu/transfer/upload.hpp"

#include "base/thread_pool.hpp"
#include "gpu/runtime/check.hpp"
#include "gpu/runtime/current_device.hpp"
#include "gpu/runtime/guarded_wait.hpp"
#include "gpu/runtime/stream.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

namespace terrazzo::gpu {

namespace {

constexpr std::size_t kChunkBytes = PinnedPool::kChunkBytes;

// Calls body(at, bytes) for every piece, on several threads with the caller's device.
template <class Body>
void for_each_piece(std::size_t bytes, std::size_t piece_bytes, unsigned threads, Body const& body) {
  int const device = current_device();
  std::size_t const pieces = (bytes + piece_bytes - 1) / piece_bytes;
  std::atomic<std::size_t> next{0};
  run_on_pool(static_cast<unsigned>(std::min<std::size_t>(threads, pieces)), [&](unsigned) {
    check_cuda(cudaSetDevice(device), "choosing the device");
    for (std::size_t p = next++; p < pieces; p = next++) {
      body(p * piece_bytes, std::min(piece_bytes, bytes - p * piece_bytes));
    }
  });
}

}  // namespace

void send(PinnedPool::Chunk chunk, std::byte* to, std::size_t bytes, cudaStream_t stream, char const* doing) {
  check_cuda(cudaMemcpyAsync(to, chunk.data(), bytes, cudaMemcpyHostToDevice, stream), doing);
  chunk.release_after(stream);
}

void upload(std::size_t bytes, std::size_t piece_bytes, std::byte* to, unsigned threads, cudaStream_t stream,
            FillPinned const& fill) {
  for_each_piece(bytes, piece_bytes, threads, [&](std::size_t at, std::size_t piece) {
    PinnedPool::Chunk chunk = PinnedPool::instance().acquire();
    fill(at, {chunk.data(), piece});
    send(std::move(chunk), to + at, piece, stream, "uploading pixels");
  });
}

void upload(std::span<std::byte const> from, std::byte* to, unsigned threads, cudaStream_t stream) {
  upload(from.size(), kChunkBytes, to, threads, stream,
         [&](std::size_t at, std::span<std::byte> into) { std::memcpy(into.data(), from.data() + at, into.size()); });
}

void download(std::byte const* from, std::span<std::byte> to, unsigned threads, cudaStream_t stream) {
  sync_callers_stream(stream, "waiting for a result");
  for_each_piece(to.size(), kChunkBytes, threads, [&](std::size_t at, std::size_t bytes) {
    thread_local StreamHandle own = make_stream();
    PinnedPool::Chunk chunk = PinnedPool::instance().acquire();
    check_cuda(cudaMemcpyAsync(chunk.data(), from + at, bytes, cudaMemcpyDeviceToHost, own.get()),
               "downloading pixels");
    sync_stream(own.get(), "downloading pixels");
    std::memcpy(to.data() + at, chunk.data(), bytes);
  });
}

void RunUpload::append(std::uint64_t offset, std::span<std::byte const> bytes) {
  while (!bytes.empty()) {
    if (chunk_ && (offset != begin_ + used_ || used_ == kChunkBytes)) { flush(); }
    if (!chunk_) {
      chunk_ = PinnedPool::instance().acquire();
      begin_ = offset;
      used_ = 0;
    }
    std::size_t const part = std::min<std::size_t>(bytes.size(), kChunkBytes - used_);
    std::memcpy(chunk_->data() + used_, bytes.data(), part);
    used_ += part;
    offset += part;
    bytes = bytes.subspan(part);
  }
}

void RunUpload::flush() {
  if (!chunk_) { return; }
  PinnedPool::Chunk chunk = *std::move(chunk_);
  chunk_.reset();
  send(std::move(chunk), to_ + begin_, used_, stream_, "uploading decoded tiles");
}

}  // namespace terrazzo::gpu
