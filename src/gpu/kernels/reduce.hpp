// SPDX-License-Identifier: Apache-2.0
//
// Overview rows out of the rows of the level before it, in device memory: every method of the host's Reduction, with
// its bits. Any thread may call; reduce() waits for nothing.
#pragma once

#include "gpu/kernels/device_rows.hpp"
#include "gpu/runtime/device_memory.hpp"
#include "tile/reduce_kernel.hpp"
#include "tile/reduction_spec.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace terrazzo::gpu {

// One step from level to level. Tables that a method needs are made once and lie in device memory.
class DeviceReduction {
 public:
  // Tables are allocated and uploaded on `stream`; they are there for work on that stream. Throws `usage` as the host's
  // Reduction. The upload comes from ordinary memory, and so may wait for what the stream has to do.
  DeviceReduction(tile::ReductionSpec const& spec, DeviceAllocator& allocator, cudaStream_t stream);

  // Device memory of the tables of such a reduction: of bilinear, cubic and lanczos alone.
  [[nodiscard]] static std::size_t table_bytes(tile::ReductionSpec const& spec);

  // Makes the rows of `result` (pixels, and mask where the spec has one). `source` holds at least the rows they need.
  // Strides are of any sign and size; they and the addresses must be multiples of the sample's size (of half of it
  // where it is complex), else `usage`. Source and result do not overlap.
  void reduce(DeviceRows const& source, DeviceRows const& result, cudaStream_t stream) const;

 private:
  tile::ReductionSpec spec_;
  DeviceBuffer tables_;
  tile::KernelAxisView columns_{}, rows_{};  // in tables_
};

}  // namespace terrazzo::gpu
