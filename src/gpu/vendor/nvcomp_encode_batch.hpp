// SPDX-License-Identifier: Apache-2.0
//
// From a batch of tiles to the arrays that nvCOMP's encoder takes, and from its answers to sizes and statuses. The
// per-tile functions run on both sides, so that the rules are tested without a GPU; nvcomp_encode_batch.cu launches
// them.
#pragma once

#include "base/host_device.hpp"
#include "tile/device_tiles.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace terrazzo::gpu {

// A tile that nvCOMP must not see is replaced by zeros whose compressed bytes nobody reads. They go to the tile's own
// place all the same: nvCOMP works in its outputs (some algorithms have no other scratch), so that tiles may not share
// one. Only tiles without an aligned place do.
inline constexpr std::size_t kEncodeStandInBytes = 16;

// Device arrays of the batch's count, all in scratch.
struct NvcompEncodeArrays {
  void const** inputs;
  std::size_t* input_bytes;
  void** outputs;
  std::size_t* written_bytes;  // nvCOMP's answer
  int* statuses;  // nvCOMP's answer
  std::byte* stand_in_input;
  std::byte* stand_in_output;  // with the room of the longest tile, which is nvCOMP's rule for every output
};

struct NvcompEncodeLimits {
  std::uint64_t longest_bytes;  // of a tile
  std::uint64_t output_bound;  // what nvCOMP may write for it
  std::size_t input_alignment;
  std::size_t output_alignment;
};

// Fills the arrays for tile `i`, and its status: final unless it is `ok`.
TERRAZZO_HOST_DEVICE inline void prepare_encode_tile(tile::EncodeBatch const& batch, NvcompEncodeLimits const& limits,
                                                     NvcompEncodeArrays const& arrays, std::uint32_t i) noexcept {
  std::uint64_t const size = batch.input_sizes[i];
  std::byte const* const input = batch.input + batch.input_offsets[i];
  std::byte* const output = batch.output + batch.output_offsets[i];
  bool const has_place = reinterpret_cast<std::uintptr_t>(output) % limits.output_alignment == 0;
  bool const given = size != 0 && size <= limits.longest_bytes && has_place &&
                     reinterpret_cast<std::uintptr_t>(input) % limits.input_alignment == 0;
  tile::TileStatus const refused = size == 0 ? tile::TileStatus::sparse : tile::TileStatus::failed;
  batch.statuses[i] = given ? tile::TileStatus::ok : refused;
  batch.output_sizes[i] = 0;
  arrays.written_bytes[i] = 0;
  arrays.statuses[i] = -1;  // a tile that nvCOMP says nothing about is not a success
  arrays.inputs[i] = given ? input : arrays.stand_in_input;
  arrays.input_bytes[i] = given ? size : kEncodeStandInBytes;
  arrays.outputs[i] = has_place ? output : arrays.stand_in_output;
}

// Tile `i` after encoding: its size, its status.
TERRAZZO_HOST_DEVICE inline void finish_encode_tile(tile::EncodeBatch const& batch, NvcompEncodeLimits const& limits,
                                                    NvcompEncodeArrays const& arrays, std::uint32_t i) noexcept {
  if (batch.statuses[i] != tile::TileStatus::ok) { return; }
  std::uint64_t const written = arrays.written_bytes[i];
  if (arrays.statuses[i] != 0 || written == 0 || written > limits.output_bound) {
    batch.statuses[i] = tile::TileStatus::failed;
    return;
  }
  batch.output_sizes[i] = written;
}

void prepare_nvcomp_encode(tile::EncodeBatch const& batch, NvcompEncodeLimits const& limits,
                           NvcompEncodeArrays const& arrays, cudaStream_t stream);
void finish_nvcomp_encode(tile::EncodeBatch const& batch, NvcompEncodeLimits const& limits,
                          NvcompEncodeArrays const& arrays, cudaStream_t stream);

}  // namespace terrazzo::gpu
