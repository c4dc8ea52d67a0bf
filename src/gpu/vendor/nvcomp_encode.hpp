// SPDX-License-Identifier: Apache-2.0
//
// nvCOMP: batches of tiles compressed on the device, Deflate in its zlib frame (header and Adler-32 are ours, made on
// the device), ZSTD in frames that any decoder reads. The same tile gives the same bytes whatever the batch.
//
// Thread rule: functions may be called from any thread; a scratch buffer belongs to one stream at a time.
#pragma once

#include "gpu/vendor/nvcomp.hpp"
#include "tile/device_tiles.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace terrazzo::gpu {

// Whether nvCOMP was found and has every function that encoding needs.
[[nodiscard]] bool nvcomp_encode_available();

// Which tiles it takes: of at most this size.
[[nodiscard]] std::uint64_t nvcomp_encode_longest_tile_bytes(NvcompCodec codec) noexcept;

// How nvCOMP is asked for one of our levels (deflate 1-12, zstd 1-22; others count as the nearest): docs/writing.md has
// what each costs and gains.
[[nodiscard]] int nvcomp_algorithm(NvcompCodec codec, int level) noexcept;

// Room that every tile of at most `tile_bytes` needs in the output, frame included: a multiple of 16, so that places
// side by side keep their phase. For deflate it is more than twice the tile. A tile's output offset leaves
// nvcomp_input_phase() when divided by 16. Throws `unsupported` when nvCOMP is absent.
[[nodiscard]] std::uint64_t nvcomp_encode_bound(NvcompCodec codec, int level, std::uint64_t tile_bytes);

// All scratch that nvcomp_encode() needs: nvCOMP's own and our arrays. Grows with count and total.
// Throws `device` when nvCOMP refuses, `unsupported` when it is absent, `usage` for a tile over the longest.
[[nodiscard]] std::size_t nvcomp_encode_scratch_bytes(NvcompCodec codec, int level, std::uint32_t tile_count,
                                                      std::uint64_t longest_tile_bytes, std::uint64_t total_bytes);

// Encodes the batch on `stream`: allocates nothing, waits for nothing. `batch.input` and `batch.output` are aligned to
// 16 bytes; `total_bytes` is at least the sum of all input sizes; count, longest tile and total are at most as given to
// nvcomp_encode_scratch_bytes(). Every tile's output, a sparse tile's too, has room for nvcomp_encode_bound() of
// `batch.longest_input_bytes`: nvCOMP works in it.
//
// Statuses: `ok`; `sparse` for a tile of no bytes; `failed` for what nvCOMP would not do and for a tile placed against
// the rules above.
void nvcomp_encode(NvcompCodec codec, int level, tile::EncodeBatch const& batch, std::uint64_t total_bytes,
                   std::byte* scratch, std::size_t scratch_bytes, cudaStream_t stream);

}  // namespace terrazzo::gpu
