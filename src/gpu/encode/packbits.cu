// SPDX-License-Identifier: Apache-2.0
//
// One thread per part, which is a row or some short rows: a batch has many thousands of them. Each part is encoded
// twice, first to count its bytes, then to write them at their final offset, which needs no intermediate memory.
#include "gpu/encode/packbits.hpp"

#include "coding/packbits/rows.hpp"
#include "gpu/encode/part_starts.hpp"
#include "gpu/runtime/check.hpp"
#include "terrazzo/error.hpp"

#include <cuda_runtime.h>

namespace terrazzo::gpu {
namespace {

using tile::EncodeBatch;

constexpr std::uint32_t kThreads = 128;
constexpr std::uint64_t kMostBlocks = 0x7FFFFFFF;

template <bool kWrites>
__global__ void __launch_bounds__(kThreads) rows_kernel(EncodeBatch batch, TileParts parts, std::uint64_t row_bytes) {
  std::uint64_t const item_count = batch.count * parts.parts_a_tile;
  std::uint64_t const stride = std::uint64_t{gridDim.x} * kThreads;
  for (std::uint64_t item = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; item < item_count; item += stride) {
    std::uint64_t const tile = item / parts.parts_a_tile;
    std::uint64_t const part = item % parts.parts_a_tile;
    std::uint64_t const tile_bytes = batch.input_sizes[tile];
    std::uint64_t const begin = part * parts.part_bytes;
    if (begin >= tile_bytes) { continue; }
    std::uint64_t const left = tile_bytes - begin;
    std::uint64_t const bytes = left < parts.part_bytes ? left : parts.part_bytes;
    std::byte const* const in = batch.input + batch.input_offsets[tile] + begin;
    if constexpr (kWrites) {
      std::uint64_t const start = parts.starts[tile * (parts.parts_a_tile + 1) + part];
      coding::PackBitsWrite sink{.out = batch.output + batch.output_offsets[tile] + start};
      coding::packbits_encode_rows(in, bytes, row_bytes, sink);
    } else {
      coding::PackBitsCount sink;
      coding::packbits_encode_rows(in, bytes, row_bytes, sink);
      parts.sizes[item] = sink.bytes;
    }
  }
}

std::uint64_t part_count(std::uint64_t tile_bytes, std::uint64_t row_bytes) {
  std::uint64_t const part_bytes = coding::packbits_part_bytes(row_bytes);
  return (tile_bytes + part_bytes - 1) / part_bytes;
}

}  // namespace

std::uint64_t packbits_device_encode_bound(std::uint64_t tile_bytes, std::uint64_t row_bytes) noexcept {
  return coding::packbits_rows_bound(tile_bytes, row_bytes);
}

std::size_t packbits_encode_scratch_bytes(std::uint32_t tile_count, std::uint64_t longest_tile_bytes,
                                          std::uint64_t row_bytes) noexcept {
  return tile_parts_bytes(tile_count, part_count(longest_tile_bytes, row_bytes));
}

void packbits_encode_tiles(tile::EncodeBatch const& batch, std::uint64_t row_bytes, std::byte* scratch,
                           std::size_t scratch_bytes, cudaStream_t stream) {
  if (batch.count == 0) { return; }
  if (scratch_bytes < packbits_encode_scratch_bytes(batch.count, batch.longest_input_bytes, row_bytes)) {
    throw Error(ErrorKind::usage, "PackBits: less scratch memory than the batch needs");
  }
  TileParts const parts = place_tile_parts(scratch, batch.count, part_count(batch.longest_input_bytes, row_bytes),
                                           coding::packbits_part_bytes(row_bytes));
  std::uint64_t const needed = (batch.count * parts.parts_a_tile + kThreads - 1) / kThreads;
  auto const blocks = static_cast<std::uint32_t>(needed < kMostBlocks ? needed : kMostBlocks);
  if (blocks != 0) {
    rows_kernel<false><<<blocks, kThreads, 0, stream>>>(batch, parts, row_bytes);
    check_launch("PackBits: counting");
  }
  find_part_starts(batch, parts, stream);
  if (blocks != 0) {
    rows_kernel<true><<<blocks, kThreads, 0, stream>>>(batch, parts, row_bytes);
    check_launch("PackBits: writing");
  }
}

}  // namespace terrazzo::gpu
