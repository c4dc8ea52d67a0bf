// SPDX-License-Identifier: Apache-2.0
//
// Makes overview rows from the rows of the previous level, in device memory: every method of the host's Reduction, with
// the same bits. Thread-safe; reduce() never waits.
#pragma once

#include "gpu/runtime/device_memory.hpp"
#include "gpu/transfer/device_rows.hpp"
#include "tile/reduce_convolution.hpp"
#include "tile/reduction_spec.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace terrazzo::gpu {

// One step from level to level. The tables of a method are made once and stay in device memory.
class DeviceReduction {
 public:
  // Allocates and uploads tables on `stream`; they are valid for work on that stream. Throws `usage` like the host's
  // Reduction. The upload uses pageable memory, and so may wait for the stream.
  DeviceReduction(tile::ReductionSpec const& spec, std::shared_ptr<DeviceAllocator> const& allocator,
                  cudaStream_t stream);

  // Device memory of the tables of such a reduction: only the kernels (bilinear to lanczos) have tables.
  [[nodiscard]] static std::size_t table_bytes(tile::ReductionSpec const& spec);

  // Makes the rows of `result` (pixels, and the mask if the spec has one). `source` holds at least the rows that they
  // need. Strides have any sign and size; they and the addresses must be multiples of the sample's size (of half of it
  // for complex samples), otherwise throws `usage`. Source and result do not overlap.
  void reduce(ConstDeviceRows const& source, DeviceRows const& result, cudaStream_t stream) const;

 private:
  tile::ReductionSpec spec_;
  DeviceBuffer tables_;
  tile::KernelAxisView columns_{}, rows_{};  // in tables_
};

}  // namespace terrazzo::gpu
