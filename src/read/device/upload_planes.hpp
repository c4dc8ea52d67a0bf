// SPDX-License-Identifier: Apache-2.0
//
// Uploads pixels that the host decoded to a result on the device.
#pragma once

#include "terrazzo/device.hpp"
#include "tile/placement.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace terrazzo::reading {

// Uploads planes of finished samples (C order, bands x height x width) into a result of any strides, in one upload and
// one placing. `destinations` has, for each plane, the byte offset of its first sample in the result's data.
void upload_planes(HostArray const& pixels, std::span<std::int64_t const> destinations,
                   tile::ResultFormat const& result, unsigned threads,
                   std::shared_ptr<DeviceAllocator> const& allocator, cudaStream_t stream);

}  // namespace terrazzo::reading
