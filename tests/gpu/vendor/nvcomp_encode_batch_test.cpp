// SPDX-License-Identifier: Apache-2.0
//
// The rules of what nvCOMP's encoder gets to see and what its answers mean, on the host twin of the kernels.
#include "gpu/vendor/nvcomp_encode_batch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace terrazzo::gpu {
namespace {

using tile::TileStatus;

constexpr std::byte kPoison{0xA5};

// One tile in host memory under the functions that the kernels run.
struct Harness {
  alignas(16) std::array<std::byte, 64> input{};
  alignas(16) std::array<std::byte, 96> output{};
  std::uint64_t input_offset = 16;
  std::uint64_t input_size = 9;
  std::uint64_t output_offset = 16;
  std::uint64_t output_size = 77;
  TileStatus status = TileStatus::corrupt;
  void const* in = nullptr;
  std::size_t in_bytes = 0;
  void* out = nullptr;
  std::size_t written = 99;
  int said = 0;
  std::array<std::byte, kEncodeStandInBytes> stand_in_input{};
  std::array<std::byte, 64> stand_in_output{};
  NvcompEncodeLimits limits{32, 64, 4, 8};

  Harness() { output.fill(kPoison); }
  tile::EncodeBatch batch() {
    return {input.data(), &input_offset, &input_size, output.data(), &output_offset, &output_size, &status, 1, 32};
  }
  NvcompEncodeArrays arrays() {
    return {&in, &in_bytes, &out, &written, &said, stand_in_input.data(), stand_in_output.data()};
  }
  void prepare() { prepare_encode_tile(batch(), limits, arrays(), 0); }
  void finish(int nvcomp_status, std::size_t bytes) {
    said = nvcomp_status;
    written = bytes;
    finish_encode_tile(batch(), limits, arrays(), 0);
  }
  [[nodiscard]] bool has_stand_in() const { return in == stand_in_input.data() && in_bytes == kEncodeStandInBytes; }
  [[nodiscard]] bool is_untouched() const {
    return std::all_of(output.begin(), output.end(), [](std::byte b) { return b == kPoison; });
  }
};

TEST(NvcompEncodeBatch, GivesATileItsInputAndItsPlace) {
  Harness tile;
  tile.prepare();
  EXPECT_EQ(tile.status, TileStatus::ok);
  EXPECT_EQ(tile.in, tile.input.data() + 16);
  EXPECT_EQ(tile.in_bytes, 9u);
  EXPECT_EQ(tile.out, tile.output.data() + 16);
  EXPECT_EQ(tile.written, 0u);
  EXPECT_NE(tile.said, 0) << "a status that nvCOMP never writes must not read as success";
  EXPECT_EQ(tile.output_size, 0u);
}

TEST(NvcompEncodeBatch, TakesAFrameAsItIs) {
  for (std::size_t const bytes : {std::size_t{1}, std::size_t{20}, std::size_t{64}}) {
    Harness tile;
    tile.prepare();
    tile.finish(0, bytes);
    EXPECT_EQ(tile.status, TileStatus::ok);
    EXPECT_EQ(tile.output_size, bytes);
    EXPECT_TRUE(tile.is_untouched());
  }
}

TEST(NvcompEncodeBatch, CallsATileOfNoBytesSparse) {
  Harness tile;
  tile.input_size = 0;
  tile.prepare();
  EXPECT_TRUE(tile.has_stand_in());
  EXPECT_EQ(tile.out, tile.output.data() + 16) << "tiles do not share an output";
  tile.finish(0, 12);
  EXPECT_EQ(tile.status, TileStatus::sparse);
  EXPECT_EQ(tile.output_size, 0u);
  EXPECT_TRUE(tile.is_untouched());
}

TEST(NvcompEncodeBatch, RefusesMisplacedAndOverlongTiles) {
  Harness input;
  input.input_offset = 18;
  Harness output;
  output.output_offset = 20;
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

}  // namespace
}  // namespace terrazzo::gpu
