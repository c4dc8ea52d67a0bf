// SPDX-License-Identifier: Apache-2.0
//
// Runs a device encoder on a batch and brings everything back. Every output lies between guard bytes, which are
// checked; the inputs end where their buffer ends, so that compute-sanitizer sees a read behind them.
#pragma once

#include "gpu/decode/decoder_batch.hpp"
#include "gpu/runtime/check.hpp"
#include "gpu/runtime/stream.hpp"
#include "tile/device_tiles.hpp"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace terrazzo::gpu::test {

struct Encoded {
  std::vector<tile::TileStatus> statuses;
  std::vector<Bytes> streams;
};

// `bound(bytes)` is the room that a tile gets, `encode(batch, stream)` the wrapper under test.
template <typename Bound, typename Encode>
Encoded encode_batch(std::vector<Bytes> const& tiles, Bound const& bound, Encode const& encode) {
  constexpr std::size_t kGuard = 64;
  constexpr std::byte kPoison{0xA5};
  auto const up = [](std::size_t value) { return (value + 15) / 16 * 16; };
  std::size_t const count = tiles.size();
  Bytes input;
  std::vector<std::uint64_t> input_offsets(count);
  std::vector<std::uint64_t> input_sizes(count);
  std::vector<std::uint64_t> output_offsets(count);
  std::size_t output_bytes = kGuard;
  std::uint64_t longest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    input.resize(up(input.size()));
    input_offsets[i] = input.size();
    input_sizes[i] = tiles[i].size();
    longest = std::max<std::uint64_t>(longest, tiles[i].size());
    input.insert(input.end(), tiles[i].begin(), tiles[i].end());
    output_offsets[i] = up(output_bytes);
    output_bytes = output_offsets[i] + bound(tiles[i].size()) + kGuard;
  }
  DeviceCopy const device_input(input);
  DeviceCopy const device_input_offsets(input_offsets);
  DeviceCopy const device_input_sizes(input_sizes);
  DeviceCopy const device_output(Bytes(output_bytes, kPoison));
  DeviceCopy const device_output_offsets(output_offsets);
  DeviceCopy const device_output_sizes(std::vector<std::uint64_t>(count, ~std::uint64_t{0}));
  DeviceCopy const device_statuses(std::vector<tile::TileStatus>(count, tile::TileStatus::corrupt));
  StreamHandle const stream = make_stream();
  encode(tile::EncodeBatch{.input = device_input.get(),
                           .input_offsets = device_input_offsets.get(),
                           .input_sizes = device_input_sizes.get(),
                           .output = device_output.get(),
                           .output_offsets = device_output_offsets.get(),
                           .output_sizes = device_output_sizes.get(),
                           .statuses = device_statuses.get(),
                           .count = static_cast<std::uint32_t>(count),
                           .longest_input_bytes = longest},
         stream.get());
  check_cuda(cudaStreamSynchronize(stream.get()), "encoding");

  Encoded encoded{.statuses = device_statuses.back(), .streams = {}};
  std::vector<std::uint64_t> const sizes = device_output_sizes.back();
  Bytes output = device_output.back();
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t const room = bound(tiles[i].size());
    EXPECT_LE(sizes[i], room) << "tile " << i;
    auto const begin = output.begin() + static_cast<std::ptrdiff_t>(output_offsets[i]);
    encoded.streams.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(std::min(sizes[i], room)));
    std::fill(begin, begin + static_cast<std::ptrdiff_t>(room), kPoison);
  }
  auto const is_poison = [](std::byte b) { return b == kPoison; };
  EXPECT_TRUE(std::all_of(output.begin(), output.end(), is_poison)) << "bytes outside the outputs were written";
  return encoded;
}

}  // namespace terrazzo::gpu::test
