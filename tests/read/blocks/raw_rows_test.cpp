// SPDX-License-Identifier: Apache-2.0
#include "read/blocks/raw_rows.hpp"

#include "read/images.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace terrazzo::reading {
namespace {

struct Rows {
  explicit Rows(Level const& of, std::uint64_t limit = 1 << 24)
      : method(choose_method(of, false)), budget(limit), raw(of, method, budget, scratch) {}
  DecodeMethod method;
  MemoryBudget budget;
  ThreadScratch scratch;
  RawRows raw;
};

TEST(RowsOfRawBlocks, SideBySideAreThoseOfEach) {
  ImageSpec spec{.width = 64, .height = 20, .tile_width = 16, .tile_height = 16};
  spec.edit = [](std::uint64_t block, std::vector<std::byte>& bytes) {
    if (block == 1) { bytes.clear(); }
    if (block == 2) { bytes.resize(5 * 16 + 3); }
  };
  Opened const opened(image<std::uint8_t>(spec));
  Rows together(level_of(opened)), alone(level_of(opened));
  std::vector<tile::TileResult> results(4);
  together.raw.find(0, {2, 10, 12}, results);
  EXPECT_EQ(together.raw.bytes_read(), 0u);
  together.raw.read_found();
  for (std::uint64_t block = 0; block < 4; ++block) {
    DecodedBlock const read = alone.raw.read(block, 2, 10);
    tile::TileResult const& result = read.result;
    EXPECT_EQ(results[block].status, result.status) << block;
    EXPECT_EQ(results[block].bytes_written, result.bytes_written) << block;
    EXPECT_EQ(result.status, block == 1   ? tile::TileStatus::sparse
                             : block == 2 ? tile::TileStatus::truncated
                                          : tile::TileStatus::ok);
    std::uint32_t const readable = block == 1 ? 0 : block == 2 ? 3 : 10;
    for (std::uint32_t r = 0; r < readable; ++r) {
      std::vector<std::byte> one(16), other(16);
      together.raw.rows_of(block).finish_row(r, one.data());
      read.rows.finish_row(r, other.data());
      EXPECT_EQ(one, other) << block << " " << r;
      EXPECT_EQ(one[5],
                static_cast<std::byte>(value_at<std::uint8_t>(0, r + 2, static_cast<std::uint32_t>(block) * 16 + 5)));
    }
  }
  EXPECT_EQ(together.raw.bytes_read(), (10u + 3 + 10) * 16);
  EXPECT_EQ(alone.raw.bytes_read(), (10u + 3 + 10) * 16);
}

TEST(RowsOfRawBlocks, AreTruncatedWhicheverPieceIsLookedAt) {
  ImageSpec spec{.width = 16, .height = 16, .tile_width = 16, .tile_height = 16};
  spec.edit = [](std::uint64_t, std::vector<std::byte>& bytes) { bytes.resize(9 * 16); };
  Opened const opened(image<std::uint8_t>(spec));
  for (std::uint32_t const first : {0u, 4u, 8u, 12u}) {
    Rows reader(level_of(opened));
    tile::TileResult result;
    reader.raw.find(0, {first, 4, 16}, {&result, 1});
    EXPECT_EQ(result.status, tile::TileStatus::truncated) << first;
    EXPECT_EQ(result.bytes_written, 9u * 16) << first;
    reader.raw.read_found();
    EXPECT_EQ(reader.raw.bytes_read(), first == 12 ? 0u : first == 8 ? 16u : 64u);
    reader.raw.find(0, {first, 4, 9}, {&result, 1});
    EXPECT_EQ(result.status, tile::TileStatus::ok) << "nine rows are wanted in all";
    EXPECT_NO_THROW(reader.raw.read_found()) << "and of the piece those are read that are there";
  }
}

TEST(RowsOfRawBlocks, TakeMemoryForWhatIsThere) {
  ImageSpec spec{.width = 64, .height = 16, .tile_width = 16, .tile_height = 16};
  spec.edit = [](std::uint64_t block, std::vector<std::byte>& bytes) {
    if (block < 2) { bytes.clear(); }
  };
  Opened const opened(image<std::uint8_t>(spec));
  std::vector<tile::TileResult> results(4);
  Rows small(level_of(opened), 16 + 2 * 256);
  small.raw.find(0, {0, 16, 16}, {results.data(), 2});
  EXPECT_NO_THROW(small.raw.read_found()) << "neither is in the file";
  small.raw.find(0, {0, 16, 16}, results);
  EXPECT_EQ(failure_of([&] { small.raw.read_found(); }).kind(), ErrorKind::limit) << "room for four";
}

}  // namespace
}  // namespace terrazzo::reading
