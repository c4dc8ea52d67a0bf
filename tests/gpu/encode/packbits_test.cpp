// SPDX-License-Identifier: Apache-2.0
#include "gpu/encode/packbits.hpp"

#include "coding/packbits/by_rows.hpp"
#include "gpu/encode/encoder_batch.hpp"
#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace terrazzo::gpu {
namespace {

using coding::test::packbits_by_rows;
using coding::test::runs;
using test::Bytes;
using test::Encoded;
using tile::TileStatus;

class PackBitsEncodeDevice : public test::OnDevice {};

Encoded encode(std::vector<Bytes> const& tiles, std::uint64_t row_bytes) {
  auto const bound = [&](std::uint64_t bytes) { return packbits_device_encode_bound(bytes, row_bytes); };
  return test::encode_batch(tiles, bound, [&](tile::EncodeBatch const& batch, cudaStream_t stream) {
    std::size_t const scratch_bytes = packbits_encode_scratch_bytes(batch.count, batch.longest_input_bytes, row_bytes);
    test::DeviceCopy const scratch(Bytes(scratch_bytes, std::byte{0xC3}));
    packbits_encode_tiles(batch, row_bytes, scratch.get(), scratch_bytes, stream);
    check_cuda(cudaStreamSynchronize(stream), "encoding");
  });
}

void expect_host_bytes(std::vector<Bytes> const& tiles, std::size_t row_bytes) {
  Encoded const encoded = encode(tiles, row_bytes);
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    SCOPED_TRACE(testing::Message() << "tile " << i << " of " << tiles[i].size() << " bytes, rows of " << row_bytes);
    ASSERT_EQ(encoded.statuses[i], tiles[i].empty() ? TileStatus::sparse : TileStatus::ok);
    ASSERT_TRUE(encoded.streams[i] == packbits_by_rows(tiles[i], row_bytes));
  }
}

TEST_F(PackBitsEncodeDevice, TakesAnEmptyBatch) { EXPECT_TRUE(encode({}, 16).statuses.empty()); }

TEST_F(PackBitsEncodeDevice, TakesABatchOfTilesOfNoBytes) { expect_host_bytes(std::vector<Bytes>(5), 16); }

TEST_F(PackBitsEncodeDevice, GivesTheHostsBytesForRowsOfAnySize) {
  std::uint32_t seed = 0;
  for (std::size_t const row_bytes : {1U, 2U, 3U, 127U, 128U, 129U, 511U, 512U, 513U, 2048U, 65536U}) {
    std::vector<Bytes> tiles;
    for (unsigned const values : {1U, 2U, 256U}) {
      for (unsigned const keep : {1U, 2U, 3U, 150U}) {
        for (std::size_t const size : {row_bytes, row_bytes * 9, row_bytes * 33 + row_bytes / 2}) {
          tiles.push_back(runs(size, ++seed, values, keep));
        }
      }
    }
    tiles.emplace_back();
    expect_host_bytes(tiles, row_bytes);
  }
}

TEST_F(PackBitsEncodeDevice, EncodesOneHugeTile) { expect_host_bytes({runs(50'000'001, 1, 4, 3)}, 4096); }

TEST_F(PackBitsEncodeDevice, EncodesManySmallTiles) {
  std::vector<Bytes> tiles;
  for (std::uint32_t i = 0; i < 70'000; ++i) { tiles.push_back(runs(i % 65, i, 3, 2)); }
  expect_host_bytes(tiles, 8);
}

TEST(PackBitsEncodeScratch, GrowsWithTilesAndTheirSize) {
  for (std::uint64_t bytes = 1; bytes < 20'000; ++bytes) {
    ASSERT_GE(packbits_encode_scratch_bytes(10, bytes, 300), packbits_encode_scratch_bytes(10, bytes - 1, 300));
    ASSERT_GE(packbits_device_encode_bound(bytes, 300), packbits_device_encode_bound(bytes - 1, 300));
  }
  EXPECT_GT(packbits_encode_scratch_bytes(11, 1000, 300), packbits_encode_scratch_bytes(10, 1000, 300));
}

TEST(PackBitsEncodeScratch, IsRefusedWhenTooSmall) {
  tile::EncodeBatch batch;
  batch.count = 4;
  batch.longest_input_bytes = 50'000;
  try {
    packbits_encode_tiles(batch, 512, nullptr, packbits_encode_scratch_bytes(4, 50'000, 512) - 1, nullptr);
    FAIL() << "too little scratch was taken";
  } catch (Error const& error) { EXPECT_EQ(error.kind(), ErrorKind::usage); }
}

}  // namespace
}  // namespace terrazzo::gpu
