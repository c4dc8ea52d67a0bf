// SPDX-License-Identifier: Apache-2.0
//
// The rules of what nvCOMP's encoders get to see and how their streams are framed, on the host twin of the kernels.
#include "gpu/vendor/nvcomp_encode_batch.hpp"

#include "gpu/vendor/nvcomp_batch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace terrazzo::gpu {
namespace {

using tile::TileStatus;

constexpr std::byte kPoison{0xA5};

// One tile in host memory under the functions that the kernels run.
struct Harness {
  NvcompCodec codec = NvcompCodec::deflate;
  alignas(16) std::array<std::byte, 64> input{};
  alignas(16) std::array<std::byte, 96> output{};
  std::uint64_t input_offset = 16;
  std::uint64_t input_size = 9;
  std::uint64_t output_offset = 14;
  std::uint64_t output_size = 77;
  TileStatus status = TileStatus::corrupt;
  void const* in = nullptr;
  std::size_t in_bytes = 0;
  void* out = nullptr;
  std::size_t written = 99;
  int said = 0;
  std::array<unsigned long long, 2> sums{5, 6};
  std::array<std::byte, kEncodeStandInBytes> stand_in_input{};
  std::array<std::byte, 64> stand_in_output{};
  NvcompEncodeLimits limits{32, 64, 16, 8};

  explicit Harness(NvcompCodec which = NvcompCodec::deflate) : codec(which) {
    output.fill(kPoison);
    if (codec == NvcompCodec::zstd) { output_offset = 16; }
    std::memcpy(input.data() + input_offset, "Wikipedia", 9);
  }
  tile::EncodeBatch batch() {
    return {input.data(), &input_offset, &input_size, output.data(), &output_offset, &output_size, &status, 1, 32};
  }
  NvcompEncodeArrays arrays() {
    return {&in,
            &in_bytes,
            &out,
            &written,
            &said,
            codec == NvcompCodec::deflate ? sums.data() : nullptr,
            stand_in_input.data(),
            stand_in_output.data()};
  }
  void prepare() { prepare_encode_tile(codec, batch(), limits, arrays(), 0); }
  void finish(int nvcomp_status, std::size_t bytes) {
    said = nvcomp_status;
    written = bytes;
    finish_encode_tile(codec, 0x9C, batch(), limits, arrays(), 0);
  }
  [[nodiscard]] bool has_stand_in() const { return in == stand_in_input.data() && in_bytes == kEncodeStandInBytes; }
  [[nodiscard]] bool is_untouched() const {
    return std::all_of(output.begin(), output.end(), [](std::byte b) { return b == kPoison; });
  }
};

TEST(NvcompEncodeBatch, PutsTheDeflateStreamBehindRoomForTheHeader) {
  Harness tile;
  tile.prepare();
  EXPECT_EQ(tile.status, TileStatus::ok);
  EXPECT_EQ(tile.in, tile.input.data() + 16);
  EXPECT_EQ(tile.in_bytes, 9u);
  EXPECT_EQ(tile.out, tile.output.data() + 16);
  EXPECT_EQ(tile.sums, (std::array<unsigned long long, 2>{0, 0}));
  EXPECT_NE(tile.said, 0) << "a status that nvCOMP never writes must not read as success";
  EXPECT_EQ(tile.output_size, 0u);
}

TEST(NvcompEncodeBatch, PutsAZstdFrameAtTheOffset) {
  Harness tile(NvcompCodec::zstd);
  tile.prepare();
  EXPECT_EQ(tile.status, TileStatus::ok);
  EXPECT_EQ(tile.out, tile.output.data() + 16);
  tile.finish(0, 20);
  EXPECT_EQ(tile.status, TileStatus::ok);
  EXPECT_EQ(tile.output_size, 20u);
  EXPECT_TRUE(tile.is_untouched());
}

TEST(NvcompEncodeBatch, FramesADeflateStream) {
  Harness tile;
  tile.prepare();
  tile::AdlerSums const sums = tile::adler_share(tile.input.data() + 16, 9, 0, 9, 0, 1);
  tile.sums = {sums.bytes, sums.weighted};
  tile.finish(0, 21);
  EXPECT_EQ(tile.status, TileStatus::ok);
  EXPECT_EQ(tile.output_size, 27u);
  EXPECT_EQ(tile.output[13], kPoison);
  EXPECT_EQ(tile.output[14], std::byte{0x78});
  EXPECT_EQ(tile.output[15], std::byte{0x9C});
  EXPECT_EQ(tile.output[16], kPoison) << "nvCOMP's";
  EXPECT_EQ(tile.output[36], kPoison) << "nvCOMP's last";
  std::array<std::byte, 4> const checksum{std::byte{0x11}, std::byte{0xE6}, std::byte{0x03}, std::byte{0x98}};
  EXPECT_TRUE(std::equal(checksum.begin(), checksum.end(), tile.output.begin() + 37));
  EXPECT_EQ(tile.output[41], kPoison);
}

TEST(NvcompEncodeBatch, CallsATileOfNoBytesSparse) {
  for (NvcompCodec const codec : {NvcompCodec::deflate, NvcompCodec::zstd}) {
    Harness tile(codec);
    tile.input_size = 0;
    tile.prepare();
    EXPECT_TRUE(tile.has_stand_in());
    EXPECT_EQ(tile.out, tile.output.data() + 16) << "tiles do not share an output";
    tile.finish(0, 12);
    EXPECT_EQ(tile.status, TileStatus::sparse);
    EXPECT_EQ(tile.output_size, 0u);
    EXPECT_TRUE(tile.is_untouched());
  }
}

TEST(NvcompEncodeBatch, RefusesMisplacedAndOverlongTiles) {
  Harness input;
  input.input_offset = 8;  // enough for nvCOMP, not for the checksum's loads
  Harness output;
  output.output_offset = 16;  // the stream would begin at 18
  Harness size;
  size.input_size = 33;
  for (Harness* const tile : {&input, &output, &size}) {
    tile->prepare();
    EXPECT_TRUE(tile->has_stand_in());
    EXPECT_EQ(tile->out == tile->stand_in_output.data(), tile == &output) << "only what has no place goes elsewhere";
    tile->finish(0, 12);
    EXPECT_EQ(tile->status, TileStatus::failed);
    EXPECT_EQ(tile->output_size, 0u);
    EXPECT_TRUE(tile->is_untouched());
  }
}

TEST(NvcompEncodeBatch, CallsWhatNvcompCouldNotDoFailed) {
  struct Answer {
    int status;
    std::size_t written;
  };
  for (Answer const answer : {Answer{11, 20}, {-1, 0}, {0, 0}, {0, 65}}) {
    Harness tile;
    tile.prepare();
    tile.finish(answer.status, answer.written);
    EXPECT_EQ(tile.status, TileStatus::failed) << answer.status << " " << answer.written;
    EXPECT_EQ(tile.output_size, 0u);
    EXPECT_TRUE(tile.is_untouched());
  }
}

TEST(NvcompEncodeBatch, ItsZlibHeadersAreHeadersAndRiseWithTheLevel) {
  unsigned before = 0;
  for (int level = 1; level <= 12; ++level) {
    unsigned const flags = zlib_level_byte(level);
    EXPECT_TRUE(is_zlib_header(0x78, flags)) << level;
    EXPECT_GE(flags >> 6, before) << level;
    before = flags >> 6;
  }
  EXPECT_EQ(zlib_level_byte(1) >> 6, 0);
  EXPECT_EQ(zlib_level_byte(6), 0x9C) << "zlib's default";
  EXPECT_EQ(zlib_level_byte(12) >> 6, 3);
}

}  // namespace
}  // namespace terrazzo::gpu
