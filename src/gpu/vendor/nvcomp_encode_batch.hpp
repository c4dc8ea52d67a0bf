// SPDX-License-Identifier: Apache-2.0
//
// From a batch of tiles to the arrays that nvCOMP's encoders take, and from its answers to framed tiles. The per-tile
// functions run on both sides, so that the rules are tested without a GPU; nvcomp_encode_batch.cu launches them.
#pragma once

#include "base/host_device.hpp"
#include "gpu/vendor/nvcomp.hpp"
#include "tile/adler32.hpp"
#include "tile/device_tiles.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace terrazzo::gpu {

// A tile that nvCOMP must not see is replaced by zeros whose compressed bytes nobody reads. They go to the tile's own
// place all the same: nvCOMP works in its outputs (some algorithms have no other scratch), so that tiles may not share
// one. Only tiles without an aligned place do.
inline constexpr std::size_t kEncodeStandInBytes = 16;

// Zlib's frame (RFC 1950): two bytes before the stream, the checksum behind it.
inline constexpr std::uint64_t kZlibFrameLead = 2;
inline constexpr std::uint64_t kZlibFrameTrail = 4;

// The input of tiles, so that sums over them can load 16 bytes at a time.
inline constexpr std::uint64_t kEncodeInputAlignment = 16;

// Device arrays of the batch's count, all in scratch.
struct NvcompEncodeArrays {
  void const** inputs;
  std::size_t* input_bytes;
  void** outputs;
  std::size_t* written_bytes;  // nvCOMP's answer
  int* statuses;  // nvCOMP's answer
  unsigned long long* adler_sums;  // of bytes and of weighted bytes, a pair a tile; null for a codec without frame
  std::byte* stand_in_input;
  std::byte* stand_in_output;  // with the room of the longest tile, which is nvCOMP's rule for every output
};

struct NvcompEncodeLimits {
  std::uint64_t longest_bytes;  // of a tile
  std::uint64_t output_bound;  // what nvCOMP may write for it
  std::size_t input_alignment;
  std::size_t output_alignment;
};

// The second byte of the zlib header: FLEVEL as zlib-compatible encoders set it, and the check bits behind 0x78.
[[nodiscard]] constexpr std::uint8_t zlib_level_byte(int level) noexcept {
  if (level < 2) { return 0x01; }
  if (level < 6) { return 0x5E; }
  return level < 8 ? 0x9C : 0xDA;
}

// Fills the arrays for tile `i`, and its status: final unless it is `ok`.
TERRAZZO_HOST_DEVICE inline void prepare_encode_tile(NvcompCodec codec, tile::EncodeBatch const& batch,
                                                     NvcompEncodeLimits const& limits, NvcompEncodeArrays const& arrays,
                                                     std::uint32_t i) noexcept {
  std::uint64_t const size = batch.input_sizes[i];
  std::byte const* const input = batch.input + batch.input_offsets[i];
  std::byte* const output =
      batch.output + batch.output_offsets[i] + (codec == NvcompCodec::deflate ? kZlibFrameLead : 0);
  bool const has_place = reinterpret_cast<std::uintptr_t>(output) % limits.output_alignment == 0;
  bool const given = size != 0 && size <= limits.longest_bytes && has_place &&
                     reinterpret_cast<std::uintptr_t>(input) % limits.input_alignment == 0;
  tile::TileStatus const refused = size == 0 ? tile::TileStatus::sparse : tile::TileStatus::failed;
  batch.statuses[i] = given ? tile::TileStatus::ok : refused;
  batch.output_sizes[i] = 0;
  arrays.written_bytes[i] = 0;
  arrays.statuses[i] = -1;  // a tile that nvCOMP says nothing about is not a success
  if (arrays.adler_sums != nullptr) {
    arrays.adler_sums[std::uint64_t{i} * 2] = 0;
    arrays.adler_sums[std::uint64_t{i} * 2 + 1] = 0;
  }
  arrays.inputs[i] = given ? input : arrays.stand_in_input;
  arrays.input_bytes[i] = given ? size : kEncodeStandInBytes;
  arrays.outputs[i] = has_place ? output : arrays.stand_in_output;
}

// Tile `i` after encoding: its frame, its size, its status. Sums hold all of the tile's bytes.
TERRAZZO_HOST_DEVICE inline void finish_encode_tile(NvcompCodec codec, std::uint8_t level_byte,
                                                    tile::EncodeBatch const& batch, NvcompEncodeLimits const& limits,
                                                    NvcompEncodeArrays const& arrays, std::uint32_t i) noexcept {
  if (batch.statuses[i] != tile::TileStatus::ok) { return; }
  std::uint64_t const written = arrays.written_bytes[i];
  if (arrays.statuses[i] != 0 || written == 0 || written > limits.output_bound) {
    batch.statuses[i] = tile::TileStatus::failed;
    return;
  }
  if (codec != NvcompCodec::deflate) {
    batch.output_sizes[i] = written;
    return;
  }
  std::byte* const out = batch.output + batch.output_offsets[i];
  out[0] = std::byte{0x78};  // deflate, a window of 32 KiB
  out[1] = static_cast<std::byte>(level_byte);
  tile::AdlerSums const sums{arrays.adler_sums[std::uint64_t{i} * 2], arrays.adler_sums[std::uint64_t{i} * 2 + 1]};
  std::uint32_t const checksum = tile::adler32_of(sums, batch.input_sizes[i]);
  for (unsigned b = 0; b < kZlibFrameTrail; ++b) {
    out[kZlibFrameLead + written + b] = static_cast<std::byte>((checksum >> (24 - 8 * b)) & 0xFFU);
  }
  batch.output_sizes[i] = kZlibFrameLead + written + kZlibFrameTrail;
}

void prepare_nvcomp_encode(NvcompCodec codec, tile::EncodeBatch const& batch, NvcompEncodeLimits const& limits,
                           NvcompEncodeArrays const& arrays, cudaStream_t stream);
// The sums of every tile that is `ok`; prepare_nvcomp_encode() has set them to 0.
void sum_for_adler32(tile::EncodeBatch const& batch, NvcompEncodeLimits const& limits, NvcompEncodeArrays const& arrays,
                     cudaStream_t stream);
void finish_nvcomp_encode(NvcompCodec codec, std::uint8_t level_byte, tile::EncodeBatch const& batch,
                          NvcompEncodeLimits const& limits, NvcompEncodeArrays const& arrays, cudaStream_t stream);

}  // namespace terrazzo::gpu
