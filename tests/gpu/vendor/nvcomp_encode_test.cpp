// SPDX-License-Identifier: Apache-2.0
//
// What needs no other library's decoder. nvcomp_encode_device_test.cpp has round trips through those.
#include "gpu/vendor/nvcomp_encode.hpp"

#include "gpu/kernels/decoder_batch.hpp"
#include "gpu/vendor/library.hpp"
#include "gpu/vendor/nvcomp.hpp"
#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace terrazzo::gpu {
namespace {

using test::Bytes;
using test::DeviceCopy;
using tile::TileStatus;

TEST(NvcompEncode, WantsNothingForAnEmptyBatch) {
  EXPECT_EQ(nvcomp_encode_scratch_bytes(0, 0, 0), 0u);
  EXPECT_NO_THROW(nvcomp_encode({}, 0, nullptr, 0, nullptr));
}

TEST(NvcompEncode, RefusesTilesOverTheLongest) {
  std::uint64_t const bytes = nvcomp_encode_longest_tile_bytes() + 1;
  try {
    (void)nvcomp_encode_scratch_bytes(1, bytes, bytes);
    FAIL() << "nothing was thrown";
  } catch (Error const& error) { EXPECT_EQ(error.kind(), ErrorKind::usage); }
}

TEST(NvcompEncode, SaysWhatToInstallWhereItIsAbsent) {
  if (nvcomp_encode_available()) { GTEST_SKIP() << "nvCOMP is there"; }
  try {
    (void)nvcomp_encode_bound(100);
    FAIL() << "nothing was thrown";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
    EXPECT_NE(error.message().find(vendor_module(Vendor::nvcomp).library.hint), std::string::npos) << error.message();
  }
}

// Answered by the library without a GPU.
TEST(NvcompEncode, ItsBoundHoldsTheTileAndKeepsThePhase) {
  if (!nvcomp_encode_available()) { GTEST_SKIP() << vendor_module(Vendor::nvcomp).library.hint; }
  std::uint64_t before = 0;
  for (std::uint64_t const bytes : {std::uint64_t{1}, std::uint64_t{16}, std::uint64_t{1000}, std::uint64_t{1} << 20,
                                    nvcomp_encode_longest_tile_bytes()}) {
    std::uint64_t const bound = nvcomp_encode_bound(bytes);
    EXPECT_EQ(bound % 16, 0u);
    EXPECT_GT(bound, bytes) << "noise does not shrink, and its frame has a header";
    EXPECT_GE(bound, before);
    before = bound;
  }
}

class NvcompEncodeOnDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    if (char const* const reason = test::why_no_device()) { GTEST_SKIP() << "no GPU: " << reason; }
    if (!nvcomp_encode_available()) { GTEST_SKIP() << vendor_module(Vendor::nvcomp).library.hint; }
  }
};

std::vector<Bytes> some_tiles() {
  std::mt19937 engine(11);
  std::vector<Bytes> tiles;
  for (std::size_t const size : {1u, 0u, 15u, 16u, 70'000u, 0u, 65'536u, 300'001u}) {
    Bytes tile(size);
    for (std::size_t i = 0; i < size; ++i) { tile[i] = static_cast<std::byte>(i / 100 + engine() % 4); }
    tiles.push_back(std::move(tile));
  }
  return tiles;
}

// Encoded in place, then decoded from there.
TEST_F(NvcompEncodeOnDevice, WhatItEncodesNvcompDecodesAndSparseTilesStaySparse) {
  std::vector<Bytes> const tiles = some_tiles();
  std::size_t const count = tiles.size();
  std::size_t const longest = tiles.back().size();
  std::uint64_t const bound = nvcomp_encode_bound(longest);
  Bytes input;
  std::vector<std::uint64_t> input_offsets, sizes, output_offsets;
  for (std::size_t i = 0; i < count; ++i) {
    input.resize((input.size() + 15) / 16 * 16);
    input_offsets.push_back(input.size());
    sizes.push_back(tiles[i].size());
    output_offsets.push_back(i * bound);
    input.insert(input.end(), tiles[i].begin(), tiles[i].end());
  }
  std::uint64_t const total = input.size();
  DeviceCopy const device_input(input);
  DeviceCopy const device_input_offsets(input_offsets), device_sizes(sizes), device_output_offsets(output_offsets);
  DeviceCopy const device_output(Bytes(count * bound));
  DeviceCopy const encoded_sizes(std::vector<std::uint64_t>(count, 1));
  DeviceCopy const statuses(std::vector<TileStatus>(count, TileStatus::corrupt));
  tile::EncodeBatch const batch{device_input.get(),  device_input_offsets.get(),        device_sizes.get(),
                                device_output.get(), device_output_offsets.get(),       encoded_sizes.get(),
                                statuses.get(),      static_cast<std::uint32_t>(count), longest};
  std::size_t const scratch_bytes = nvcomp_encode_scratch_bytes(batch.count, longest, total);
  DeviceCopy const scratch(Bytes(scratch_bytes, std::byte{0xC3}));
  StreamHandle const stream = make_stream();
  nvcomp_encode(batch, total, scratch.get(), scratch_bytes, stream.get());
  check_cuda(cudaStreamSynchronize(stream.get()), "encoding");
  std::vector<TileStatus> const said = statuses.back();
  std::vector<std::uint64_t> const lengths = encoded_sizes.back();
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_EQ(said[i], tiles[i].empty() ? TileStatus::sparse : TileStatus::ok) << i;
    EXPECT_EQ(lengths[i] == 0, tiles[i].empty()) << i;
  }
  DeviceCopy const back(Bytes(total, std::byte{0}));
  tile::DeviceTiles const decode{
      device_output.get(),        device_output_offsets.get(), encoded_sizes.get(), back.get(),
      device_input_offsets.get(), device_sizes.get(),          statuses.get(),      batch.count};
  std::size_t const decode_bytes = nvcomp_decode_scratch_bytes(NvcompCodec::zstd, batch.count, longest, total);
  DeviceCopy const decode_scratch(Bytes(decode_bytes, std::byte{0xC3}));
  nvcomp_decode(NvcompCodec::zstd, decode, longest, total, decode_scratch.get(), decode_bytes, stream.get());
  check_cuda(cudaStreamSynchronize(stream.get()), "decoding");
  EXPECT_EQ(statuses.back(), said);
  Bytes const decoded = back.back();
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_TRUE(
        std::equal(tiles[i].begin(), tiles[i].end(), decoded.begin() + static_cast<std::ptrdiff_t>(input_offsets[i])))
        << i;
  }
}

TEST_F(NvcompEncodeOnDevice, RefusesScratchThatIsTooSmall) {
  DeviceCopy const one(Bytes(256));
  tile::EncodeBatch batch;
  batch.count = 1;
  batch.longest_input_bytes = 1000;
  StreamHandle const stream = make_stream();
  EXPECT_THROW(nvcomp_encode(batch, 1000, one.get(), 256, stream.get()), Error);
}

}  // namespace
}  // namespace terrazzo::gpu
