// SPDX-License-Identifier: Apache-2.0
//
// The rules of what nvCOMP gets to see, on the host twin of the kernels.
#include "gpu/vendor/nvcomp_batch.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace terrazzo::gpu {
namespace {

using tile::TileStatus;

// One tile in host memory under the functions that the kernels run.
struct Harness {
  alignas(16) std::array<std::byte, 64> input{};
  alignas(16) std::array<std::byte, 64> output{};
  std::uint64_t input_offset = 14;
  std::uint64_t input_size = 20;
  std::uint64_t output_offset = 0;
  std::uint64_t output_size = 32;
  TileStatus status = TileStatus::failed;
  void const* in = nullptr;
  std::size_t in_bytes = 0;
  void* out = nullptr;
  std::size_t out_bytes = 0;
  std::size_t written = 99;
  int said = 0;
  std::array<std::byte, kStandInInputBytes> stand_in_input{};
  std::array<std::byte, kStandInOutputBytes> stand_in_output{};
  NvcompLimits limits{32, 16, 16};

  void zlib_header(unsigned cmf, unsigned flags) {
    input[input_offset] = static_cast<std::byte>(cmf);
    input[input_offset + 1] = static_cast<std::byte>(flags);
  }
  tile::DeviceTiles tiles() {
    return {input.data(), &input_offset, &input_size, output.data(), &output_offset, &output_size, &status, 1};
  }
  NvcompArrays arrays() {
    return {&in, &in_bytes, &out, &out_bytes, &written, &said, stand_in_input.data(), stand_in_output.data()};
  }
  void prepare(NvcompCodec codec) { prepare_tile(codec, tiles(), limits, arrays(), 0); }
  void finish(int nvcomp_status, std::size_t bytes) {
    said = nvcomp_status;
    written = bytes;
    finish_tile(tiles(), arrays(), 0);
  }
  bool has_stand_in() const { return in == stand_in_input.data() && out == stand_in_output.data(); }
};

TEST(NvcompBatch, HandsOverTheDeflateStreamInsideTheZlibFrame) {
  Harness batch;
  batch.zlib_header(0x78, 0x9C);
  batch.prepare(NvcompCodec::deflate);
  EXPECT_EQ(batch.status, TileStatus::ok);
  EXPECT_EQ(batch.in, batch.input.data() + 16);
  EXPECT_EQ(batch.in_bytes, 14u);
  EXPECT_EQ(batch.out, batch.output.data());
  EXPECT_EQ(batch.out_bytes, 32u);
  EXPECT_NE(batch.said, 0) << "a status that nvCOMP never writes must not read as success";
}

TEST(NvcompBatch, KeepsBadZlibHeadersFromNvcomp) {
  // method 7; window of 64 KiB; a preset dictionary; wrong check bits
  for (auto const& [cmf, flags] : {std::pair{0x77u, 0x9Eu}, {0x88u, 0x1Cu}, {0x78u, 0xBBu}, {0x78u, 0x9Du}}) {
    Harness batch;
    batch.zlib_header(cmf, flags);
    batch.prepare(NvcompCodec::deflate);
    EXPECT_EQ(batch.status, TileStatus::corrupt) << cmf << " " << flags;
    EXPECT_TRUE(batch.has_stand_in());
  }
}

TEST(NvcompBatch, KeepsTilesShorterThanAZlibFrameFromNvcomp) {
  for (std::uint64_t size = 1; size < kSmallestZlibBytes; ++size) {
    Harness batch;
    batch.zlib_header(0x78, 0x9C);
    batch.input_size = size;
    batch.prepare(NvcompCodec::deflate);
    EXPECT_EQ(batch.status, TileStatus::corrupt) << size;
    EXPECT_TRUE(batch.has_stand_in());
  }
}

TEST(NvcompBatch, CallsATileOfNoBytesSparse) {
  Harness batch;
  batch.input_size = 0;
  batch.prepare(NvcompCodec::deflate);
  batch.finish(0, kStandInContentBytes);
  EXPECT_EQ(batch.status, TileStatus::sparse);
  EXPECT_TRUE(batch.has_stand_in());
}

TEST(NvcompBatch, RefusesMisplacedTiles) {
  Harness input;
  input.input_offset = 16;
  input.zlib_header(0x78, 0x9C);
  input.prepare(NvcompCodec::deflate);
  EXPECT_EQ(input.status, TileStatus::failed);
  Harness output;
  output.zlib_header(0x78, 0x9C);
  output.output_offset = 8;
  output.prepare(NvcompCodec::deflate);
  EXPECT_EQ(output.status, TileStatus::failed);
  Harness size;
  size.zlib_header(0x78, 0x9C);
  size.output_size = 33;
  size.prepare(NvcompCodec::deflate);
  EXPECT_EQ(size.status, TileStatus::failed);
}

TEST(NvcompBatch, LeavesImplausibleZstdToTheHost) {
  Harness batch;
  batch.input_offset = 0;
  batch.prepare(NvcompCodec::zstd);
  EXPECT_EQ(batch.status, TileStatus::unsupported);
  EXPECT_TRUE(batch.has_stand_in());
}

TEST(NvcompBatch, ItsZstdStandInIsAPlausibleFrame) {
  std::vector<std::byte> frame;
  for (std::uint32_t i = 0; i < stand_in_bytes(NvcompCodec::zstd); ++i) {
    frame.push_back(static_cast<std::byte>(stand_in_byte(NvcompCodec::zstd, i)));
  }
  EXPECT_TRUE(coding::zstd_frame_is_plausible(frame, kStandInContentBytes));
}

TEST(NvcompBatch, TurnsNvcompsAnswersIntoStatuses) {
  Harness good;
  good.zlib_header(0x78, 0x9C);
  good.prepare(NvcompCodec::deflate);
  good.finish(0, 32);
  EXPECT_EQ(good.status, TileStatus::ok);
  Harness brief;
  brief.zlib_header(0x78, 0x9C);
  brief.prepare(NvcompCodec::deflate);
  brief.finish(0, 31);
  EXPECT_EQ(brief.status, TileStatus::truncated);
  Harness refused;
  refused.zlib_header(0x78, 0x9C);
  refused.prepare(NvcompCodec::deflate);
  refused.finish(12, 32);
  EXPECT_EQ(refused.status, TileStatus::unsupported);
}

TEST(NvcompBatch, KeepsTheVerdictOnAStandInWhateverNvcompSays) {
  Harness batch;
  batch.zlib_header(0, 0);
  batch.prepare(NvcompCodec::deflate);
  batch.finish(0, kStandInContentBytes);
  EXPECT_EQ(batch.status, TileStatus::corrupt);
}

}  // namespace
}  // namespace terrazzo::gpu
