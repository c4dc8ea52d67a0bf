// SPDX-License-Identifier: Apache-2.0
//
// Converts a batch of tiles to the arrays that nvCOMP takes, and nvCOMP's results to statuses. The per-tile functions
// compile for host and device, so that the rules are tested without a GPU; nvcomp_batch.cu launches them.
#pragma once

#include "base/host_device.hpp"
#include "coding/deflate/format.hpp"
#include "coding/zstd/frame.hpp"
#include "gpu/vendor/nvcomp.hpp"
#include "tile/device_tiles.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace terrazzo::gpu {

// A tile that nvCOMP must not decode is replaced by a tiny valid stream whose output is ignored.
inline constexpr std::size_t kStandInInputBytes = 64;
inline constexpr std::size_t kStandInOutputBytes = 64;
inline constexpr std::uint32_t kStandInContentBytes = 16;

// Device arrays of `tiles.count`, all in scratch.
struct NvcompArrays {
  void const** inputs;
  std::size_t* input_bytes;
  void** outputs;
  std::size_t* output_bytes;   // capacity
  std::size_t* written_bytes;  // set by nvCOMP
  int* statuses;               // set by nvCOMP
  std::byte* stand_in_input;
  std::byte* stand_in_output;
};

struct NvcompLimits {
  std::uint64_t max_output_bytes;
  std::size_t input_alignment;
  std::size_t output_alignment;
};

inline constexpr std::uint64_t kSmallestZlibBytes = 8;  // an empty block takes 10 bits

// Byte `i` of the stand-in stream: one stored block of 16 zeros (RFC 1951, 3.2.4), or a zstd frame with a raw block.
TERRAZZO_HOST_DEVICE constexpr std::uint8_t stand_in_byte(NvcompCodec codec, std::uint32_t i) noexcept {
  constexpr std::uint8_t kDeflate[] = {0x01, 0x10, 0x00, 0xEF, 0xFF};
  constexpr std::uint8_t kZstd[] = {0x28, 0xB5, 0x2F, 0xFD, 0x20, 0x10, 0x81, 0x00, 0x00};
  if (codec == NvcompCodec::deflate) { return i < sizeof kDeflate ? kDeflate[i] : std::uint8_t{0}; }
  return i < sizeof kZstd ? kZstd[i] : std::uint8_t{0};
}

TERRAZZO_HOST_DEVICE constexpr std::size_t stand_in_bytes(NvcompCodec codec) noexcept {
  return (codec == NvcompCodec::deflate ? 5 : 9) + std::size_t{kStandInContentBytes};
}

// Status of tile `i` before decoding; `ok` if nvCOMP may decode it.
TERRAZZO_HOST_DEVICE inline tile::TileStatus inspect_tile(NvcompCodec codec, tile::DeviceTiles const& tiles,
                                                          NvcompLimits const& limits, std::uint32_t i) noexcept {
  using tile::TileStatus;
  std::uint64_t const size = tiles.input_sizes[i];
  std::uint64_t const expected = tiles.output_sizes[i];
  if (size == 0) { return TileStatus::sparse; }
  std::byte const* const input = tiles.input + tiles.input_offsets[i];
  bool const is_deflate = codec == NvcompCodec::deflate;
  auto const stream_at = reinterpret_cast<std::uintptr_t>(input) + (is_deflate ? coding::kZlibHeaderBytes : 0);
  auto const output_at = reinterpret_cast<std::uintptr_t>(tiles.output) + tiles.output_offsets[i];
  if (stream_at % limits.input_alignment != 0 || output_at % limits.output_alignment != 0 || expected == 0 ||
      expected > limits.max_output_bytes) {
    return TileStatus::failed;
  }
  if (!is_deflate) {
    return coding::is_plausible_zstd_frame(input, size, expected) ? TileStatus::ok : TileStatus::unsupported;
  }
  if (size < kSmallestZlibBytes ||
      !coding::is_zlib_header(static_cast<unsigned>(input[0]), static_cast<unsigned>(input[1]))) {
    return TileStatus::corrupt;
  }
  return TileStatus::ok;
}

// Fills the arrays for tile `i`, and its status: final unless it is `ok`.
TERRAZZO_HOST_DEVICE inline void prepare_tile(NvcompCodec codec, tile::DeviceTiles const& tiles,
                                              NvcompLimits const& limits, NvcompArrays const& arrays,
                                              std::uint32_t i) noexcept {
  tile::TileStatus const status = inspect_tile(codec, tiles, limits, i);
  tiles.statuses[i] = status;
  arrays.written_bytes[i] = 0;
  arrays.statuses[i] = -1;  // a tile that gets no status from nvCOMP counts as failed
  if (status != tile::TileStatus::ok) {
    arrays.inputs[i] = arrays.stand_in_input;
    arrays.input_bytes[i] = stand_in_bytes(codec);
    arrays.outputs[i] = arrays.stand_in_output;
    arrays.output_bytes[i] = kStandInContentBytes;
    return;
  }
  bool const is_deflate = codec == NvcompCodec::deflate;
  arrays.inputs[i] = tiles.input + tiles.input_offsets[i] + (is_deflate ? coding::kZlibHeaderBytes : 0);
  arrays.input_bytes[i] = tiles.input_sizes[i] - (is_deflate ? coding::kZlibHeaderBytes + coding::kZlibTailBytes : 0);
  arrays.outputs[i] = tiles.output + tiles.output_offsets[i];
  arrays.output_bytes[i] = tiles.output_sizes[i];
}

// Sets the status of tile `i` after decoding. Surplus data makes nvCOMP fail with the code of a corrupt stream, so the
// host decides about its failures.
TERRAZZO_HOST_DEVICE inline void finish_tile(tile::DeviceTiles const& tiles, NvcompArrays const& arrays,
                                             std::uint32_t i) noexcept {
  if (tiles.statuses[i] != tile::TileStatus::ok) { return; }
  if (arrays.statuses[i] != 0) {
    tiles.statuses[i] = tile::TileStatus::unsupported;
  } else if (arrays.written_bytes[i] < tiles.output_sizes[i]) {
    tiles.statuses[i] = tile::TileStatus::truncated;
  }
}

void prepare_nvcomp_batch(NvcompCodec codec, tile::DeviceTiles const& tiles, NvcompLimits const& limits,
                          NvcompArrays const& arrays, cudaStream_t stream);
void finish_nvcomp_batch(tile::DeviceTiles const& tiles, NvcompArrays const& arrays, cudaStream_t stream);

}  // namespace terrazzo::gpu
