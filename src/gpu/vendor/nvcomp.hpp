// SPDX-License-Identifier: Apache-2.0
//
// nvCOMP: decodes batches of Deflate and ZSTD tiles on the device. It has undefined behaviour on corrupt input, so it
// is for trusted sources. Cheap checks precede it (zlib header, zstd frame and block headers); a tile that fails them
// is withheld.
//
// Thread rule: functions may be called from any thread; a scratch buffer belongs to one stream at a time.
#pragma once

#include "tile/device_tiles.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace terrazzo::gpu {

enum class NvcompCodec : std::uint8_t { deflate, zstd };

// True if nvCOMP was found and has every needed function.
[[nodiscard]] bool nvcomp_available();

// Offset of a tile in the input, modulo 16: a TIFF deflate tile starts with a zlib header of 2 bytes, and the bytes
// after it must be aligned.
[[nodiscard]] constexpr std::uint64_t nvcomp_input_phase(NvcompCodec codec) noexcept {
  return codec == NvcompCodec::deflate ? 14 : 0;
}

// All scratch of `nvcomp_decode`: nvCOMP's own and our arrays. Increases with each argument.
// Throws `device` if nvCOMP refuses (a tile over 2 GiB), `unsupported` if it is absent.
[[nodiscard]] std::size_t nvcomp_decode_scratch_bytes(NvcompCodec codec, std::uint32_t tile_count,
                                                      std::uint64_t max_output_bytes, std::uint64_t total_output_bytes);

// Decodes the batch on `stream`: allocates nothing, waits for nothing. `tiles.input` and `tiles.output` are aligned to
// 16 bytes; input offsets have the phase above, output offsets are multiples of 16. Input sizes are those of the stored
// tiles, zlib frame included. Sums as given to `nvcomp_decode_scratch_bytes`.
//
// Statuses: `ok`; `sparse` for an empty tile; `corrupt` for a bad zlib header; `truncated` if the stream held less than
// the tile; `unsupported` for tiles that nvCOMP or the header check refuses, including surplus data in a valid stream:
// the host decodes those and decides; `failed` for a tile that violates the alignment rules above.
void nvcomp_decode(NvcompCodec codec, tile::DeviceTiles const& tiles, std::uint64_t max_output_bytes,
                   std::uint64_t total_output_bytes, std::byte* scratch, std::size_t scratch_bytes,
                   cudaStream_t stream);

}  // namespace terrazzo::gpu
