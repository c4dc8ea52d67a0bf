// SPDX-License-Identifier: Apache-2.0
#include "gpu/decode/adler32.hpp"

#include "coding/deflate/adler32.hpp"
#include "gpu/decode/decoder_batch.hpp"

#include <gtest/gtest.h>

namespace terrazzo::gpu {
namespace {

using test::DeviceCopy;
using tile::TileStatus;

TEST(Adler32, TakesAnEmptyBatch) { EXPECT_NO_THROW(check_adler32({}, nullptr)); }

class Adler32OnDevice : public test::OnDevice {};

TEST_F(Adler32OnDevice, LeavesRightTilesAloneAndTakesTheOthersBack) {
  // Tiles of odd sizes, each 16-byte aligned; the second's trailer is wrong, the third was not ok before.
  std::vector<std::size_t> const sizes{1, 70001, 33, 4096};
  std::vector<std::byte> input, output;
  std::vector<std::uint64_t> input_offsets, input_sizes, output_offsets, output_sizes;
  std::vector<TileStatus> statuses{TileStatus::ok, TileStatus::ok, TileStatus::corrupt, TileStatus::ok};
  for (std::size_t t = 0; t < sizes.size(); ++t) {
    output.resize((output.size() + 15) / 16 * 16);
    output_offsets.push_back(output.size());
    output_sizes.push_back(sizes[t]);
    coding::AdlerSums sums;
    for (std::size_t i = 0; i < sizes[t]; ++i) {
      auto const byte = static_cast<std::uint8_t>(i * 31 + t);
      output.push_back(static_cast<std::byte>(byte));
      sums.add(byte, sizes[t] - i);
    }
    std::uint32_t const adler = coding::adler32_of(sums, sizes[t]) ^ (t == 1 ? 0x100u : 0u);
    input_offsets.push_back(input.size());
    input_sizes.push_back(6);  // two bytes of anything, then the trailer
    input.resize(input.size() + 2);
    for (int shift = 24; shift >= 0; shift -= 8) { input.push_back(static_cast<std::byte>(adler >> shift)); }
  }
  DeviceCopy const device_input(input), device_output(output);
  DeviceCopy const a(input_offsets), b(input_sizes), c(output_offsets), d(output_sizes);
  DeviceCopy const device_statuses(statuses);
  tile::DeviceTiles tiles;
  tiles.input = device_input.get();
  tiles.input_offsets = a.get();
  tiles.input_sizes = b.get();
  tiles.output = device_output.get();
  tiles.output_offsets = c.get();
  tiles.output_sizes = d.get();
  tiles.statuses = device_statuses.get();
  tiles.count = static_cast<std::uint32_t>(sizes.size());
  StreamHandle const stream = make_stream();
  check_adler32(tiles, stream.get());
  check_cuda(cudaStreamSynchronize(stream.get()), "checking");
  EXPECT_EQ(device_statuses.back(),
            (std::vector{TileStatus::ok, TileStatus::unsupported, TileStatus::corrupt, TileStatus::ok}));
}

}  // namespace
}  // namespace terrazzo::gpu
