// SPDX-License-Identifier: Apache-2.0
//
// Plain bytes between host and device, through the pinned pool and on several threads: pageable memory alone would go
// at a sixth of the speed.
#pragma once

#include "terrazzo/device.hpp"
#include "tile/placement.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <span>

namespace terrazzo::reading {

// On return `from` may be reused; the copy is complete in the order of `stream`.
void upload(std::span<std::byte const> from, std::byte* to, unsigned threads, cudaStream_t stream);

// On return the bytes are there. Waits for `stream` first.
void download(std::byte const* from, std::span<std::byte> to, unsigned threads, cudaStream_t stream);

// A rectangle of finished samples (C order, bands x height x width) into a result of any strides. `bands` says which
// bands of the result they are.
void upload_rectangle(HostArray const& pixels, std::span<std::size_t const> bands, tile::ResultFormat const& result,
                      std::int64_t destination_offset_bytes, unsigned threads, DeviceAllocator& allocator,
                      cudaStream_t stream);

}  // namespace terrazzo::reading
