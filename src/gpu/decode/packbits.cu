// SPDX-License-Identifier: Apache-2.0
//
// One warp per tile: the start of a run is known only after the previous run is read, so runs are processed one after
// another, and the lanes share a run's bytes. The rules are those of coding::packbits_run().
#include "gpu/decode/packbits.hpp"

#include "gpu/runtime/check.hpp"

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace terrazzo::gpu {
namespace {

using tile::DeviceTiles;
using tile::TileStatus;

constexpr std::uint32_t kAllLanes = 0xFFFFFFFF;
constexpr std::uint32_t kWarpsABlock = 4;
constexpr std::uint32_t kHalf = 128;  // bytes; a run of literals and its head fit two halves

// 256 bytes of the input in two halves, with one word of each half per lane. The second half is loaded while the first
// is in use. Bytes outside the input are not accessed and read as 0.
class Window {
 public:
  __device__ Window(std::byte const* in, std::uint64_t in_bytes) : in_(in), in_bytes_(in_bytes) {
    first_ = load(0);
    second_ = load(kHalf);
  }

  // Advances until `at` lies in the first half. Never goes back.
  __device__ void reach(std::uint64_t at) {
    while (at - begin_ >= kHalf) {
      begin_ += kHalf;
      first_ = second_;
      second_ = load(begin_ + kHalf);
    }
  }

  // REQUIRES: `at` lies in one of the halves. It may differ between lanes, but all lanes must call.
  [[nodiscard]] __device__ std::uint8_t byte(std::uint64_t at) const {
    auto const offset = static_cast<std::uint32_t>(at - begin_);
    auto const lane = static_cast<int>(offset / 4 % 32);
    std::uint32_t const first = __shfl_sync(kAllLanes, first_, lane);
    std::uint32_t const second = __shfl_sync(kAllLanes, second_, lane);
    return static_cast<std::uint8_t>((offset < kHalf ? first : second) >> (offset % 4 * 8));
  }

 private:
  [[nodiscard]] __device__ std::uint32_t load(std::uint64_t half) const {
    std::uint64_t const at = half + threadIdx.x % 32 * 4;
    auto const address = reinterpret_cast<std::uintptr_t>(in_ + at);
    if (at + 4 <= in_bytes_ && address % 4 == 0) { return *reinterpret_cast<std::uint32_t const*>(address); }
    std::uint32_t value = 0;
    for (std::uint32_t i = 0; i < 4; ++i) {
      if (at + i < in_bytes_) { value |= static_cast<std::uint32_t>(in_[at + i]) << (8 * i); }
    }
    return value;
  }

  std::byte const* in_;
  std::uint64_t in_bytes_;
  std::uint64_t begin_ = 0;
  std::uint32_t first_ = 0;
  std::uint32_t second_ = 0;
};

// Called by one warp; returns the number of bytes written.
__device__ std::uint64_t decode_tile(std::byte const* in, std::uint64_t in_bytes, std::uint8_t* out,
                                     std::uint64_t out_bytes) {
  std::uint32_t const lane = threadIdx.x % 32;
  Window window(in, in_bytes);
  std::uint64_t at = 0;
  std::uint64_t written = 0;
  while (written < out_bytes && at < in_bytes) {
    window.reach(at);
    std::uint32_t const head = window.byte(at);
    ++at;
    if (head == 128) { continue; }
    if (at == in_bytes) { break; }
    bool const repeat = head > 128;
    std::uint64_t run = repeat ? 257 - head : head + 1;
    if (run > out_bytes - written) { run = out_bytes - written; }
    if (!repeat && run > in_bytes - at) { run = in_bytes - at; }
    for (std::uint32_t first = 0; first < run; first += 32) {
      std::uint32_t const i = first + lane;
      bool const mine = i < run;
      std::uint8_t const byte = window.byte(repeat || !mine ? at : at + i);
      if (mine) { out[written + i] = byte; }
    }
    at += repeat ? 1 : run;
    written += run;
  }
  return written;
}

__global__ void __launch_bounds__(kWarpsABlock * 32) decode_kernel(DeviceTiles tiles) {
  std::uint64_t const tile = std::uint64_t{blockIdx.x} * kWarpsABlock + threadIdx.x / 32;
  if (tile >= tiles.count) { return; }
  std::uint64_t const out_bytes = tiles.output_sizes[tile];
  auto* const out = reinterpret_cast<std::uint8_t*>(tiles.output + tiles.output_offsets[tile]);
  std::uint64_t const written =
      decode_tile(tiles.input + tiles.input_offsets[tile], tiles.input_sizes[tile], out, out_bytes);
  if (threadIdx.x % 32 == 0) { tiles.statuses[tile] = written == out_bytes ? TileStatus::ok : TileStatus::truncated; }
}

}  // namespace

void decode_packbits(tile::DeviceTiles const& tiles, cudaStream_t stream) {
  if (tiles.count == 0) { return; }
  std::uint32_t const blocks = tiles.count / kWarpsABlock + (tiles.count % kWarpsABlock != 0 ? 1 : 0);
  decode_kernel<<<blocks, kWarpsABlock * 32, 0, stream>>>(tiles);
  check_launch("decoding PackBits");
}

}  // namespace terrazzo::gpu
