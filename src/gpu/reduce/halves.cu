// SPDX-License-Identifier: Apache-2.0
//
// Each thread makes 8 bytes of a result row from 16 bytes each of two source rows.
#include "gpu/reduce/launch.hpp"
#include "gpu/reduce/rows.cuh"
#include "tile/reduce_halves.hpp"

#include <cstdint>
#include <type_traits>

namespace terrazzo::gpu {
namespace {

template <class Chunk>
__global__ void __launch_bounds__(kReduceThreads) halve_kernel(Chunk const make_chunk) {
  std::uint64_t const chunk = std::uint64_t{blockIdx.x} * kReduceThreads + threadIdx.x;
  if (chunk >= make_chunk.chunk_count()) { return; }
  for (std::uint64_t line = blockIdx.y; line < make_chunk.rows.lines; line += gridDim.y) { make_chunk(chunk, line); }
}

}  // namespace

bool launch_halves(tile::ReduceTask const& task, tile::ReductionSpec const& spec, cudaStream_t stream) {
  bool is_taken = false;
  with_real_type(spec.dtype, [&]<class T>(std::type_identity<T>) {
    auto const rows = tile::halved_rows<T>(task, tile::make_marker<T>(spec));
    if (!rows) { return; }
    is_taken = true;
    tile::with_halve_chunk(*rows, [&]<class Chunk>(Chunk const& make_chunk) {
      dim3 const blocks = blocks_of(make_chunk.chunk_count(), rows->lines);
      halve_kernel<Chunk><<<blocks, kReduceThreads, 0, stream>>>(make_chunk);
      check_launch("halving rows");
    });
  });
  return is_taken;
}

}  // namespace terrazzo::gpu
