// SPDX-License-Identifier: Apache-2.0
#include "gpu/encode/part_starts.hpp"

#include "gpu/decode/decoder_batch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace terrazzo::gpu {
namespace {

using test::Bytes;
using test::DeviceCopy;
using tile::TileStatus;

class PartStartsDevice : public test::OnDevice {};

constexpr std::uint64_t kPartBytes = 100;
constexpr std::uint32_t kPoison = 0xEEEEEEEE;

// Tiles with so many parts each; the places of parts that a tile does not have hold poison, which must not be added.
void expect_starts(std::vector<std::uint64_t> const& part_counts, std::uint32_t units_a_byte) {
  std::mt19937 engine(1);
  auto const count = static_cast<std::uint32_t>(part_counts.size());
  std::uint64_t const most = *std::max_element(part_counts.begin(), part_counts.end());
  std::vector<std::uint64_t> input_sizes;
  for (std::uint64_t const parts : part_counts) {
    input_sizes.push_back(parts == 0 ? 0 : (parts - 1) * kPartBytes + 1 + engine() % kPartBytes);
  }
  DeviceCopy const memory(Bytes(tile_parts_bytes(count, most), std::byte{0xEE}));
  TileParts parts = place_tile_parts(memory.get(), count, most, kPartBytes);
  parts.units_a_byte = units_a_byte;
  parts.units_in_front = units_a_byte + 1;
  std::vector<std::uint32_t> sizes(count * most, kPoison);
  for (std::size_t tile = 0; tile < count; ++tile) {
    // Near the most that a size can be, so that sums need 64 bits.
    for (std::uint64_t i = 0; i < part_counts[tile]; ++i) {
      sizes[tile * most + i] = engine() % 2 == 0 ? 0xFFFFFFFF : static_cast<std::uint32_t>(engine() % 1000);
    }
  }
  check_cuda(cudaMemcpy(parts.sizes, sizes.data(), sizes.size() * sizeof(std::uint32_t), cudaMemcpyHostToDevice),
             "test upload");
  DeviceCopy const device_input_sizes(input_sizes);
  DeviceCopy const device_output_sizes(std::vector<std::uint64_t>(count, 77));
  DeviceCopy const device_statuses(std::vector<TileStatus>(count, TileStatus::corrupt));
  tile::EncodeBatch batch;
  batch.input_sizes = device_input_sizes.get();
  batch.output_sizes = device_output_sizes.get();
  batch.statuses = device_statuses.get();
  batch.count = count;
  StreamHandle const stream = make_stream();
  find_part_starts(batch, parts, stream.get());
  check_cuda(cudaStreamSynchronize(stream.get()), "adding up");

  std::vector<std::uint64_t> starts(count * (most + 1));
  check_cuda(cudaMemcpy(starts.data(), parts.starts, starts.size() * sizeof(std::uint64_t), cudaMemcpyDeviceToHost),
             "test download");
  std::vector<std::uint64_t> const output_sizes = device_output_sizes.back();
  std::vector<TileStatus> const statuses = device_statuses.back();
  for (std::size_t tile = 0; tile < count; ++tile) {
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < part_counts[tile]; ++i) {
      ASSERT_EQ(starts[tile * (most + 1) + i], sum) << "tile " << tile << ", part " << i;
      sum += sizes[tile * most + i];
    }
    ASSERT_EQ(starts[tile * (most + 1) + part_counts[tile]], sum) << tile;
    std::uint64_t const units = part_counts[tile] == 0 ? 0 : sum + units_a_byte + 1;
    ASSERT_EQ(output_sizes[tile], (units + units_a_byte - 1) / units_a_byte) << tile;
    ASSERT_EQ(statuses[tile], part_counts[tile] == 0 ? TileStatus::sparse : TileStatus::ok) << tile;
  }
}

TEST_F(PartStartsDevice, AddUpPartsInBytesAndBits) {
  for (std::uint32_t const units_a_byte : {1U, 8U}) {
    expect_starts({1}, units_a_byte);
    expect_starts({0, 1, 2, 31, 32, 33, 127, 128, 129, 0, 255, 256, 257, 5000, 0}, units_a_byte);
    expect_starts(std::vector<std::uint64_t>(70'000, 3), units_a_byte);
  }
}

TEST_F(PartStartsDevice, TakeTilesWithoutParts) { expect_starts({0, 0, 0}, 8); }

TEST(PartStarts, ArraysLieSideBySideInTheirMemory) {
  for (std::uint32_t tiles = 1; tiles < 9; ++tiles) {
    for (std::uint64_t most = 0; most < 9; ++most) {
      std::vector<std::uint64_t> memory(tile_parts_bytes(tiles, most) / 8);
      TileParts const parts = place_tile_parts(reinterpret_cast<std::byte*>(memory.data()), tiles, most, kPartBytes);
      EXPECT_EQ(parts.starts, memory.data());
      EXPECT_EQ(reinterpret_cast<std::byte*>(parts.sizes),
                reinterpret_cast<std::byte*>(parts.starts + tiles * (most + 1)));
      EXPECT_LE(reinterpret_cast<std::byte*>(parts.sizes + tiles * most),
                reinterpret_cast<std::byte*>(memory.data() + memory.size()));
    }
  }
}

}  // namespace
}  // namespace terrazzo::gpu
