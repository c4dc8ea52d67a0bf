// SPDX-License-Identifier: Apache-2.0
//
// nvCOMP: batches of Deflate and ZSTD tiles decoded on the device. It declares corrupt input undefined behaviour, so it
// is for trusted sources; what can be checked cheaply is checked before it sees a tile (zlib header, zstd frame and
// block headers), and a tile that fails is kept from it.
//
// Thread rule: functions may be called from any thread; a scratch buffer belongs to one stream at a time.
#pragma once

#include "tile/device_tiles.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace terrazzo::gpu {

enum class NvcompCodec : std::uint8_t { deflate, zstd };

// Whether nvCOMP was found and has every function we need.
[[nodiscard]] bool nvcomp_available();

// Offset of a tile in the input, modulo 16: a TIFF deflate tile starts with a zlib header of 2 bytes, and what follows
// them must be aligned.
[[nodiscard]] constexpr std::uint64_t nvcomp_input_phase(NvcompCodec codec) noexcept {
  return codec == NvcompCodec::deflate ? 14 : 0;
}

// All scratch that `nvcomp_decode` needs: nvCOMP's own and our arrays. Grows with each argument.
// Throws `device` when nvCOMP refuses (a tile over 2 GiB), `unsupported` when it is absent.
[[nodiscard]] std::size_t nvcomp_decode_scratch_bytes(NvcompCodec codec, std::uint32_t tile_count,
                                                      std::uint64_t max_output_bytes, std::uint64_t total_output_bytes);

// Decodes the batch on `stream`: allocates nothing, waits for nothing. `tiles.input` and `tiles.output` are aligned to
// 16 bytes; offsets have the phase above, output offsets are multiples of 16. Input sizes are the tiles' as stored,
// zlib frame included. Sums as given to `nvcomp_decode_scratch_bytes`.
//
// Statuses: `ok`; `sparse` for a tile of no bytes; `corrupt` for a bad zlib header; `truncated` when the stream held
// less than the tile; `unsupported` for whatever nvCOMP or the header check would not take, surplus data in a valid
// stream included: the host decodes those, and has the last word; `failed` for a tile placed against the rules above.
void nvcomp_decode(NvcompCodec codec, tile::DeviceTiles const& tiles, std::uint64_t max_output_bytes,
                   std::uint64_t total_output_bytes, std::byte* scratch, std::size_t scratch_bytes,
                   cudaStream_t stream);

}  // namespace terrazzo::gpu
