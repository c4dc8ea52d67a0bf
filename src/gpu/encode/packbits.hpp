// SPDX-License-Identifier: Apache-2.0
//
// PackBits made on the device, row by row: the same bytes as coding/packbits/encode.hpp. Thread-safe; allocates nothing
// and never waits.
//
// `row_bytes`, of every tile of the batch, is more than 0 and less than 2^31: no run crosses a row's end (TIFF 6.0,
// section 9).
#pragma once

#include "tile/device_tiles.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace terrazzo::gpu {

// Upper bound for the stream of a tile of so many bytes.
[[nodiscard]] std::uint64_t packbits_device_encode_bound(std::uint64_t tile_bytes, std::uint64_t row_bytes) noexcept;

// Increases with the number of tiles and with their size.
[[nodiscard]] std::size_t packbits_encode_scratch_bytes(std::uint32_t tile_count, std::uint64_t longest_tile_bytes,
                                                        std::uint64_t row_bytes) noexcept;

// Statuses: `ok`, or `sparse` for an empty tile. Throws `usage` for too little scratch, `device` if a launch fails.
void packbits_encode_tiles(tile::EncodeBatch const& batch, std::uint64_t row_bytes, std::byte* scratch,
                           std::size_t scratch_bytes, cudaStream_t stream);

}  // namespace terrazzo::gpu
