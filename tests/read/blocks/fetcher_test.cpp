// SPDX-License-Identifier: Apache-2.0
#include "read/blocks/fetcher.hpp"

#include "read/blocks/block_fixture.hpp"
#include "read/images.hpp"
#include "support/temp_folder.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace terrazzo::reading {
namespace {

using test::Blocks;

// 16 tiles of 18 compressed bytes; a file, so that bytes are fetched and not borrowed.
class Fetching : public ::testing::Test {
 protected:
  void make(std::function<void(std::uint64_t, std::vector<std::byte>&)> edit = {}) {
    ImageSpec spec{.width = 16,
                   .height = 16,
                   .tile_width = 4,
                   .tile_height = 4,
                   .compression = kPackBits,
                   .edit = std::move(edit)};
    path_ = folder_.write("a.tif", image<std::uint8_t>(spec).bytes());
    dataset_.emplace(open(path_));
    blocks_.emplace(*dataset_->shared_impl()->levels[0]);
  }
  testing::TempFolder folder_;
  std::string path_;
  std::optional<Dataset> dataset_;
  std::optional<Blocks> blocks_;
};

TEST_F(Fetching, ReadsNeighboursInOneGo) {
  make();
  std::vector<std::uint64_t> const blocks = {2, 3, 4, 5};
  tile::TileBatch const& batch = blocks_->fetcher.fetch(blocks);
  EXPECT_EQ(blocks_->fetcher.ranges().size(), 1u);
  EXPECT_EQ(blocks_->fetcher.bytes_read(), 4u * 17);
  ASSERT_EQ(batch.items.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    tile::BatchItem const& item = batch.items[i];
    EXPECT_EQ(item.tile, blocks[i]);
    EXPECT_EQ(item.status, tile::TileStatus::ok);
    auto const bytes = batch.bytes_of(item);
    EXPECT_EQ(bytes.size(), 17u);
    std::uint32_t const row = static_cast<std::uint32_t>(blocks[i] / 4 * 4),
                        column = static_cast<std::uint32_t>(blocks[i] % 4 * 4);
    EXPECT_EQ(bytes[1], static_cast<std::byte>(value_at<std::uint8_t>(0, row, column)));
  }
}

TEST_F(Fetching, ReadsThroughASmallGapAndNotThroughALargeOne) {
  make([](std::uint64_t block, std::vector<std::byte>& bytes) {
    if (block == 8) { bytes.resize(20'000); }
  });
  std::vector<std::uint64_t> const near = {0, 2}, far = {7, 9}, backwards = {5, 1};
  static_cast<void>(blocks_->fetcher.fetch(near));
  EXPECT_EQ(blocks_->fetcher.ranges().size(), 1u);
  EXPECT_EQ(blocks_->fetcher.bytes_read(), 3u * 17) << "tile 1 came along";
  static_cast<void>(blocks_->fetcher.fetch(far));
  EXPECT_EQ(blocks_->fetcher.ranges().size(), 2u);
  tile::TileBatch const& batch = blocks_->fetcher.fetch(backwards);
  EXPECT_EQ(blocks_->fetcher.ranges().size(), 2u);
  EXPECT_EQ(batch.bytes_of(batch.items[1])[1], static_cast<std::byte>(value_at<std::uint8_t>(0, 0, 4)));
}

TEST_F(Fetching, ReadsNothingForSparseBlocks) {
  make([](std::uint64_t, std::vector<std::byte>& bytes) { bytes.clear(); });
  std::vector<std::uint64_t> const blocks = {0, 1};
  tile::TileBatch const& batch = blocks_->fetcher.fetch(blocks);
  EXPECT_EQ(blocks_->fetcher.bytes_read(), 0u);
  EXPECT_EQ(batch.items[1].status, tile::TileStatus::sparse);
}

TEST_F(Fetching, RefusesCompressedBytesBeyondTheLimit) {
  make([](std::uint64_t, std::vector<std::byte>& bytes) { bytes.resize(30'000); });
  Blocks small(blocks_->level, 20'000);
  std::vector<std::uint64_t> const blocks = {0};
  EXPECT_EQ(failure_of([&] { small.fetcher.submit(blocks); }).kind(), ErrorKind::limit);
  EXPECT_LT(small.budget.used_bytes(), 20'000u);
}

TEST(FetchingFromMemory, CopiesNothing) {
  Opened const opened(
      image<std::uint8_t>({.width = 16, .height = 16, .tile_width = 4, .tile_height = 4, .compression = kPackBits}));
  Blocks of(level_of(opened));
  std::vector<std::uint64_t> const blocks = {15, 0};
  tile::TileBatch const& batch = of.fetcher.fetch(blocks);
  EXPECT_EQ(batch.buffer.data(), level_of(opened).source->in_memory().data());
  EXPECT_EQ(batch.bytes_of(batch.items[0])[1], static_cast<std::byte>(value_at<std::uint8_t>(0, 12, 12)));
}

TEST(FetchingFromMemory, CutsABlockAtTheEndOfTheFile) {
  // Tiles come first in the file, so a count that reaches past the end is made by hand.
  testing::TiffBuilder builder =
      image<std::uint8_t>({.width = 16, .height = 16, .tile_width = 16, .tile_height = 16, .compression = kPackBits});
  std::vector<std::byte> bytes = builder.bytes();
  std::uint64_t const at = builder.directory().find(325)->value_offset_bytes;
  std::memset(bytes.data() + at, 0x7F, 4);
  Dataset const dataset = open_memory(bytes, "m");
  Blocks of(*dataset.shared_impl()->levels[0]);
  std::uint64_t const block = 0;
  tile::TileBatch const& batch = of.fetcher.fetch({&block, 1});
  tile::BatchItem const& item = batch.items[0];
  EXPECT_EQ(item.offset_bytes + item.size_bytes, bytes.size());
  EXPECT_EQ(of.decoder.decode(batch, 0).front().result.status, tile::TileStatus::ok) << "the pixels are all there";
}

TEST_F(Fetching, HasOneBatchInFlightForEachFetcher) {
  make();
  BlockFetcher other(blocks_->level, blocks_->method, blocks_->budget, blocks_->scratch);
  std::vector<std::uint64_t> const first = {0, 1}, second = {9};
  blocks_->fetcher.submit(first);
  other.submit(second);
  EXPECT_EQ(other.bytes_read(), 0u) << "nobody has waited";
  tile::TileBatch const &a = blocks_->fetcher.wait(), &b = other.wait();
  EXPECT_EQ(other.bytes_read(), 17u);
  EXPECT_EQ(a.bytes_of(a.items[1])[1], static_cast<std::byte>(value_at<std::uint8_t>(0, 0, 4)));
  EXPECT_EQ(b.bytes_of(b.items[0])[1], static_cast<std::byte>(value_at<std::uint8_t>(0, 8, 4)));
}

TEST_F(Fetching, GivesItsBuffersBackToTheThread) {
  make();
  ThreadScratch scratch;
  std::byte const* first = nullptr;
  for (int i = 0; i < 3; ++i) {
    BlockFetcher fetcher(blocks_->level, blocks_->method, blocks_->budget, scratch);
    std::vector<std::uint64_t> const blocks = {3};
    std::byte const* const bytes = fetcher.fetch(blocks).buffer.data();
    if (i == 0) { first = bytes; }
    EXPECT_EQ(bytes, first);
  }
  EXPECT_EQ(scratch.spare_buffers.size(), 1u);
}

TEST_F(Fetching, SubmitsNoMoreThanItMay) {
  make();
  std::vector<std::uint64_t> const blocks = {2, 3, 4, 5};
  EXPECT_FALSE(blocks_->fetcher.try_submit(blocks, 4 * 17 - 1));
  EXPECT_EQ(blocks_->fetcher.bytes_in_flight(), 0u);
  EXPECT_TRUE(blocks_->fetcher.try_submit(blocks, 4 * 17));
  EXPECT_EQ(blocks_->fetcher.bytes_in_flight(), 4u * 17);
  EXPECT_EQ(blocks_->fetcher.wait().items.size(), 4u);
  EXPECT_EQ(blocks_->fetcher.bytes_read(), 4u * 17) << "what was refused is not counted";
}

}  // namespace
}  // namespace terrazzo::reading
