// SPDX-License-Identifier: Apache-2.0
#include "gpu/encode/lzw.hpp"

#include "coding/lzw/decode.hpp"
#include "coding/lzw/parts_twin.hpp"
#include "gpu/encode/encoder_batch.hpp"
#include "support/lzw_stream.hpp"
#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace terrazzo::gpu {
namespace {

using test::Bytes;
using test::Encoded;
using testing::noise;
using testing::walk_steps;
using tile::TileStatus;

class LzwEncodeDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    if (char const* const reason = test::why_no_device()) { GTEST_SKIP() << "no GPU: " << reason; }
  }
};

Encoded encode(std::vector<Bytes> const& tiles) {
  return test::encode_batch(tiles, &lzw_device_encode_bound, [](tile::EncodeBatch const& batch, cudaStream_t stream) {
    std::size_t const scratch_bytes = lzw_encode_scratch_bytes(batch.count, batch.longest_input_bytes);
    test::DeviceCopy const scratch(Bytes(scratch_bytes, std::byte{0xC3}));
    lzw_encode_tiles(batch, scratch.get(), scratch_bytes, stream);
    check_cuda(cudaStreamSynchronize(stream), "encoding");
  });
}

// The streams decode to the tiles, and are those of the host's twin.
void expect_streams(std::vector<Bytes> const& tiles) {
  Encoded const encoded = encode(tiles);
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    SCOPED_TRACE(::testing::Message() << "tile " << i << " of " << tiles[i].size() << " bytes");
    ASSERT_EQ(encoded.statuses[i], tiles[i].empty() ? TileStatus::sparse : TileStatus::ok);
    Bytes back(tiles[i].size());
    tile::TileResult const result = coding::lzw_decode(encoded.streams[i], back);
    ASSERT_EQ(result.status, TileStatus::ok);
    ASSERT_FALSE(result.surplus_input);
    ASSERT_TRUE(back == tiles[i]);
    ASSERT_TRUE(encoded.streams[i] == coding::test::encode_in_parts(tiles[i]));
  }
}

TEST_F(LzwEncodeDevice, TakesAnEmptyBatch) { EXPECT_TRUE(encode({}).statuses.empty()); }

TEST_F(LzwEncodeDevice, TakesABatchOfTilesOfNoBytes) { expect_streams(std::vector<Bytes>(5)); }

TEST_F(LzwEncodeDevice, EncodesSmallTilesOfEverySize) {
  std::vector<Bytes> tiles;
  for (std::size_t size = 0; size <= 300; ++size) {
    tiles.push_back(noise(size, 1, 256));
    tiles.push_back(noise(size, 2, 3));
    tiles.push_back(Bytes(size, std::byte{7}));
  }
  expect_streams(tiles);
}

TEST_F(LzwEncodeDevice, EncodesAroundTheSizesOfPartsAndTables) {
  std::vector<Bytes> tiles;
  for (std::size_t const middle : {std::size_t{3836}, std::size_t{4000}, std::size_t{32768}, std::size_t{65536}}) {
    for (std::size_t size = middle - 20; size <= middle + 20; ++size) {
      tiles.push_back(noise(size, 1, 256));
      tiles.push_back(walk_steps(size, 2));
      tiles.push_back(Bytes(size, std::byte{7}));
    }
  }
  expect_streams(tiles);
}

TEST_F(LzwEncodeDevice, EncodesTilesOfDifferentSizesSideBySide) {
  std::vector<Bytes> tiles;
  for (std::uint32_t i = 0; i < 60; ++i) {
    tiles.push_back(walk_steps(1000 + i * std::size_t{7919}, i));
    tiles.push_back({});
    tiles.push_back(noise(1 + i * std::size_t{997}, i, 1 + i * 5));
  }
  expect_streams(tiles);
}

TEST_F(LzwEncodeDevice, EncodesOneHugeTile) {
  Bytes mixed = walk_steps(20'000'003, 1);
  std::fill(mixed.begin() + 500'000, mixed.begin() + 5'500'000, std::byte{7});
  expect_streams({mixed});
}

TEST_F(LzwEncodeDevice, EncodesManyTinyTiles) {
  std::vector<Bytes> tiles;
  for (std::uint32_t i = 0; i < 70'000; ++i) { tiles.push_back(noise(i % 65, i, 2 + i % 30)); }
  Encoded const encoded = encode(tiles);
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    Bytes back(tiles[i].size());
    ASSERT_EQ(coding::lzw_decode(encoded.streams[i], back).status, TileStatus::ok) << i;
    ASSERT_TRUE(back == tiles[i]) << i;
  }
}

TEST_F(LzwEncodeDevice, GivesTheSameBytesWhateverTheBatch) {
  std::vector<Bytes> tiles;
  for (std::uint32_t i = 0; i < 12; ++i) { tiles.push_back(walk_steps(100'000 + i * std::size_t{10'000}, i)); }
  Encoded const together = encode(tiles);
  for (std::size_t i = 0; i < tiles.size(); ++i) { EXPECT_TRUE(encode({tiles[i]}).streams[0] == together.streams[i]); }
}

TEST(LzwEncodeScratch, GrowsWithTilesAndTheirSize) {
  for (std::uint64_t bytes = 1; bytes < 100'000; bytes += 7) {
    ASSERT_GE(lzw_encode_scratch_bytes(10, bytes), lzw_encode_scratch_bytes(10, bytes - 1)) << bytes;
    ASSERT_GT(lzw_encode_scratch_bytes(11, bytes), lzw_encode_scratch_bytes(10, bytes)) << bytes;
  }
  // No more than a caller can plan with.
  EXPECT_LT(lzw_encode_scratch_bytes(1024, 1 << 20), std::size_t{1024} * (1 << 20) * 21 / 10);
}

TEST(LzwEncodeScratch, IsRefusedWhenTooSmall) {
  tile::EncodeBatch batch;
  batch.count = 4;
  batch.longest_input_bytes = 50'000;
  try {
    lzw_encode_tiles(batch, nullptr, lzw_encode_scratch_bytes(4, 50'000) - 1, nullptr);
    FAIL() << "too little scratch was taken";
  } catch (Error const& error) { EXPECT_EQ(error.kind(), ErrorKind::usage); }
}

}  // namespace
}  // namespace terrazzo::gpu
