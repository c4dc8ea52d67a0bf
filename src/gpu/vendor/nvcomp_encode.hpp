// SPDX-License-Identifier: Apache-2.0
//
// nvCOMP: batches of tiles compressed to ZSTD on the device, in frames that any decoder reads. The same tile gives the
// same bytes whatever the batch. It has one level. (Deflate is gpu/kernels/deflate_encode: four times as fast as
// nvCOMP's and a tenth smaller, measured on an H200.)
//
// Thread rule: functions may be called from any thread; a scratch buffer belongs to one stream at a time.
#pragma once

#include "tile/device_tiles.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace terrazzo::gpu {

// Whether nvCOMP was found and has every function that encoding needs.
[[nodiscard]] bool nvcomp_encode_available();

// Which tiles it takes: of at most this size.
[[nodiscard]] std::uint64_t nvcomp_encode_longest_tile_bytes() noexcept;

// Room that every tile of at most `tile_bytes` needs in the output, sparse ones too; a multiple of 16.
[[nodiscard]] std::uint64_t nvcomp_encode_bound(std::uint64_t tile_bytes);

// All scratch that nvcomp_encode() needs: nvCOMP's own and our arrays. Grows with the number and with the total.
[[nodiscard]] std::size_t nvcomp_encode_scratch_bytes(std::uint32_t tile_count, std::uint64_t longest_tile_bytes,
                                                      std::uint64_t total_bytes);

// Encodes the batch on `stream`: allocates nothing, waits for nothing. Statuses: `ok`; `sparse` for a tile of no bytes;
// `failed` for what nvCOMP would not do.
void nvcomp_encode(tile::EncodeBatch const& batch, std::uint64_t total_bytes, std::byte* scratch,
                   std::size_t scratch_bytes, cudaStream_t stream);

}  // namespace terrazzo::gpu
