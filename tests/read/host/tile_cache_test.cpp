// SPDX-License-Identifier: Apache-2.0
#include "read/host/tile_cache.hpp"

#include "read/images.hpp"
#include "read/with_cache.hpp"
#include "support/temp_folder.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace terrazzo::reading {
namespace {

std::shared_ptr<CachedBlock> block(std::size_t bytes) { return std::make_shared<CachedBlock>(bytes); }

TEST(TileCache, FindsWhatWasPutIn) {
  TileCache cache;
  auto const one = block(10);
  cache.insert({1, 7}, one, 100);
  EXPECT_EQ(cache.find({1, 7}), one);
  EXPECT_EQ(cache.find({1, 8}), nullptr);
  EXPECT_EQ(cache.find({2, 7}), nullptr);
  EXPECT_EQ(cache.used_bytes(), 10u);
}

TEST(TileCache, DropsTheLeastRecentlyUsed) {
  TileCache cache;
  for (std::uint64_t i = 0; i < 3; ++i) { cache.insert({1, i}, block(30), 100); }
  EXPECT_NE(cache.find({1, 0}), nullptr);  // now the most recent
  cache.insert({1, 3}, block(30), 100);
  EXPECT_EQ(cache.find({1, 1}), nullptr);
  EXPECT_NE(cache.find({1, 0}), nullptr);
  EXPECT_NE(cache.find({1, 2}), nullptr);
  EXPECT_EQ(cache.used_bytes(), 90u);
}

TEST(TileCache, KeepsToALimitThatShrinks) {
  TileCache cache;
  for (std::uint64_t i = 0; i < 10; ++i) { cache.insert({1, i}, block(10), 100); }
  EXPECT_EQ(cache.used_bytes(), 100u);
  cache.insert({1, 99}, block(10), 25);
  EXPECT_EQ(cache.used_bytes(), 20u);
  EXPECT_NE(cache.find({1, 99}), nullptr);
}

TEST(TileCache, DoesNotKeepWhatCanNeverFit) {
  TileCache cache;
  cache.insert({1, 0}, block(50), 100);
  cache.insert({1, 1}, block(101), 100);
  EXPECT_EQ(cache.find({1, 1}), nullptr);
  EXPECT_NE(cache.find({1, 0}), nullptr) << "and drops nothing for it";
  cache.insert({1, 2}, block(1), 0);
  EXPECT_EQ(cache.find({1, 2}), nullptr);
}

TEST(TileCache, GivesTheMemoryOfDroppedBlocksToTheNextOfTheirSize) {
  TileCache cache;
  for (std::uint64_t i = 0; i < 3; ++i) { cache.insert({1, i}, block(30), 100); }
  EXPECT_NE(cache.find({1, 0}), nullptr);
  EXPECT_NE(cache.find({1, 1}), nullptr);
  EXPECT_NE(cache.find({1, 2}), nullptr);
  cache.insert({1, 3}, block(10), 100);
  EXPECT_EQ(cache.spare_bytes(), 0u);
  cache.insert({1, 4}, block(10), 100);  // the oldest goes, and all that is left of the limit is less than it had
  EXPECT_EQ(cache.used_bytes(), 80u);
  EXPECT_EQ(cache.spare_bytes(), 0u);
  cache.forget_level(1);
  EXPECT_EQ(cache.used_bytes(), 0u);
  EXPECT_EQ(cache.spare_bytes(), 80u) << "for the next dataset";
  auto const again = cache.make_block(30);
  EXPECT_EQ(cache.spare_bytes(), 50u);
  EXPECT_EQ(cache.make_block(31)->size_bytes(), 31u) << "none is of that size";
  cache.insert({2, 0}, again, 40);
  EXPECT_EQ(cache.spare_bytes(), 0u) << "both together are within the limit, and those of 10 go first";
}

TEST(TileCache, FreesMemoryOfOtherSizesFirst) {
  TileCache cache;
  for (std::uint64_t i = 0; i < 3; ++i) { cache.insert({1, i}, block(10), 100); }
  for (std::uint64_t i = 0; i < 3; ++i) { cache.insert({2, i}, block(20), 100); }
  cache.forget_level(1);
  cache.forget_level(2);
  EXPECT_EQ(cache.spare_bytes(), 90u);
  cache.insert({3, 0}, cache.make_block(10), 60);  // two of 10 and three of 20 are left, for 50 bytes
  EXPECT_EQ(cache.spare_bytes(), 40u);
  static_cast<void>(cache.make_block(10));
  EXPECT_EQ(cache.spare_bytes(), 30u) << "those of 10 were kept";
}

TEST(TileCache, LeavesBlocksThatAreReadToTheirReaders) {
  TileCache cache;
  cache.insert({1, 0}, block(30), 100);
  auto const held = cache.find({1, 0});
  cache.forget_level(1);
  EXPECT_EQ(cache.spare_bytes(), 0u);
  EXPECT_NE(cache.make_block(30), held);
}

TEST(TileCache, KeepsTheFirstOfTwo) {
  TileCache cache;
  auto const first = block(10);
  cache.insert({1, 0}, first, 100);
  cache.insert({1, 0}, block(10), 100);
  EXPECT_EQ(cache.find({1, 0}), first);
  EXPECT_EQ(cache.used_bytes(), 10u);
}

TEST(TileCache, ForgetsOneLevelOnly) {
  TileCache cache;
  for (std::uint64_t i = 0; i < 4; ++i) { cache.insert({i % 2, i}, block(10), 100); }
  cache.forget_level(0);
  EXPECT_EQ(cache.find({0, 0}), nullptr);
  EXPECT_EQ(cache.find({0, 2}), nullptr);
  EXPECT_NE(cache.find({1, 1}), nullptr);
  EXPECT_EQ(cache.used_bytes(), 20u);
}

// A file of 2,000 masks took 15 s to close after another had filled the cache.
TEST(TileCache, LooksAtNoBlockOfOtherLevelsToForgetOne) {
  TileCache cache;
  for (std::uint64_t i = 0; i < 1000; ++i) { cache.insert({1, i}, block(10), 100000); }
  for (std::uint64_t level = 2; level < 2000; ++level) { cache.forget_level(level); }
  EXPECT_EQ(cache.blocks_visited_to_forget(), 0u) << "these have none";
  for (std::uint64_t i = 0; i < 3; ++i) { cache.insert({2, i}, block(10), 100000); }
  cache.forget_level(2);
  EXPECT_EQ(cache.blocks_visited_to_forget(), 3u);
  EXPECT_EQ(cache.used_bytes(), 10000u);
  EXPECT_NE(cache.find({1, 999}), nullptr);
}

// Whichever of a level's blocks go first: the oldest of all, the newest, one in between.
TEST(TileCache, ForgetsWhatIsLeftOfALevelAfterBlocksWereDropped) {
  for (std::uint64_t const used_again : {0u, 1u, 2u, 3u}) {
    TileCache cache;
    for (std::uint64_t i = 0; i < 4; ++i) {
      cache.insert({7, i}, block(10), 80);
      cache.insert({8, i}, block(10), 80);
    }
    EXPECT_NE(cache.find({7, used_again}), nullptr);
    for (std::uint64_t i = 0; i < 5; ++i) { cache.insert({9, i}, block(10), 80); }  // five of the others are dropped
    cache.forget_level(7);
    for (std::uint64_t i = 0; i < 4; ++i) { EXPECT_EQ(cache.find({7, i}), nullptr); }
    cache.forget_level(8);
    EXPECT_EQ(cache.used_bytes(), 50u);
    cache.insert({7, 0}, block(10), 80);
    cache.forget_level(9);
    EXPECT_EQ(cache.used_bytes(), 10u);
    EXPECT_NE(cache.find({7, 0}), nullptr);
    cache.forget_level(7);
    EXPECT_EQ(cache.used_bytes(), 0u);
  }
}

TEST(TileCache, GivesBlocksThatOutliveTheirPlace) {
  TileCache cache;
  auto made = std::make_shared<CachedBlock>(4);
  made->data()[3] = std::byte{9};
  cache.insert({1, 0}, std::move(made), 100);
  auto const held = cache.find({1, 0});
  cache.forget_level(1);
  EXPECT_EQ(held->data()[3], std::byte{9});
}

TEST(TileCache, ServesManyThreads) {
  TileCache cache;
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < 500; ++i) {
        cache.insert({t, i % 17}, block(10), 200);
        auto const found = cache.find({(t + 1) % 4, i % 17});
        if (found != nullptr && found->size_bytes() != 10) { ADD_FAILURE(); }
        if (i % 50 == 0) { cache.forget_level(t); }
      }
    });
  }
  for (std::thread& thread : threads) { thread.join(); }
  EXPECT_LE(cache.used_bytes(), 200u);
  EXPECT_EQ(cache.used_bytes() % 10, 0u);
}

// ---------------------------------------------------------------------------------------------------------------
// As reads use it

class ReadsWithACache : public test::WithCache {
 protected:
  ImageSpec const spec_{.width = 100, .height = 100, .tile_width = 64, .tile_height = 64, .compression = kPackBits};
};

TEST_F(ReadsWithACache, DecodeATileOnceForTwoWindows) {
  Opened const opened(image<std::uint8_t>(spec_));
  std::uint64_t const before = tile_cache().used_bytes();
  for (int round = 0; round < 2; ++round) {
    ReadReport report;
    Window const window{10, 10, 20, 20};
    EXPECT_EQ(values_of<std::uint8_t>(read(*opened, {.window = window}, &report)), expected<std::uint8_t>(window, {1}));
    EXPECT_EQ(report.tiles, 1u) << "a tile from the cache counts";
    EXPECT_EQ(tile_cache().used_bytes() - before, 64u * 64);
  }
}

TEST_F(ReadsWithACache, GiveTheSameFromTheCache) {
  Opened const opened(image<float>({.width = 100,
                                    .height = 100,
                                    .bands = 2,
                                    .tile_width = 64,
                                    .tile_height = 64,
                                    .compression = kPackBits,
                                    .order = std::endian::big}));
  for (Window const& window :
       {Window{3, 3, 5, 5}, Window{60, 60, 10, 10}, Window{62, 0, 38, 100}, Window{0, 0, 100, 100}}) {
    for (int round = 0; round < 2; ++round) {
      EXPECT_EQ(values_of<float>(read(*opened, {.window = window})), expected<float>(window, {1, 2}));
    }
    EXPECT_EQ(values_of<float>(read(*opened, {.window = window, .bands = {2}})), expected<float>(window, {2}));
  }
}

// Tiles that are large enough to be placed by several threads, some of them from the cache and some not.
TEST_F(ReadsWithACache, PlaceAKeptTileInPieces) {
  testing::TempFolder const folder;
  std::string const path = folder.write(
      "a.tif",
      image<std::uint8_t>(
          {.width = 1100, .height = 1300, .bands = 3, .tile_width = 512, .tile_height = 512, .compression = kPackBits})
          .bytes());
  std::vector<std::uint32_t> const bands{3, 1};
  for (unsigned const threads : {1u, 2u, 8u}) {
    Dataset const dataset = open(path);
    for (Window const& window : {Window{10, 20, 700, 600}, Window{400, 300, 650, 900}, Window{0, 0, 1100, 1300}}) {
      for (bool const is_again : {false, true}) {
        std::uint64_t told = 0;
        auto const progress = [&](std::uint64_t done, std::uint64_t) {
          EXPECT_GE(done, told);
          told = done;
          return true;
        };
        ReadReport report;
        ReadRequest const request{.window = window, .bands = bands, .threads = threads, .progress = progress};
        EXPECT_EQ(values_of<std::uint8_t>(read(dataset, request, &report)), expected<std::uint8_t>(window, bands));
        EXPECT_EQ(report.tiles, plan(dataset, request).tile_count());
        EXPECT_EQ(told, report.tiles);
        bool const all_are_kept = is_again || window.column == 0;
        EXPECT_EQ(report.bytes_read == 0, all_are_kept) << window.column << " " << is_again;
      }
    }
  }
}

// What is wrong with a tile is told as without the tiles that are kept.
TEST_F(ReadsWithACache, FailWithTheFirstBadTileWhateverIsKept) {
  ImageSpec spec{.width = 2048, .height = 2048, .tile_width = 512, .tile_height = 512, .compression = kPackBits};
  spec.edit = [](std::uint64_t block, std::vector<std::byte>& bytes) {
    if (block == 6 || block == 9) { bytes.resize(bytes.size() / 2); }
  };
  for (unsigned const threads : {1u, 4u}) {
    Opened const opened(image<std::uint8_t>(spec));
    for (std::uint32_t const tile : {0u, 3u, 5u, 8u}) {
      static_cast<void>(read(*opened, {.window = Window{tile % 4 * 512 + 1, tile / 4 * 512 + 1, 9, 9}}));
    }
    ASSERT_EQ(plan(*opened, {.threads = threads}).threads(), threads);
    for (int turn = 0; turn < 10; ++turn) {
      Error const error = failure_of([&] { static_cast<void>(read(*opened, {.threads = threads})); });
      EXPECT_EQ(error.where().tile, (TileId{.column = 2, .row = 1}));
    }
    ReadReport report;
    static_cast<void>(read(*opened, {.bad_tile = BadTile::fill, .threads = threads}, &report));
    ASSERT_EQ(report.bad_tiles.size(), 2u);
    EXPECT_EQ(report.bad_tiles[0].tile, (TileId{.column = 2, .row = 1}));
    EXPECT_EQ(report.bad_tiles[1].tile, (TileId{.column = 1, .row = 2}));
    EXPECT_EQ(report.tiles, 14u);
  }
}

// A read of many tiles asks for each as it comes to it.
TEST_F(ReadsWithACache, FindKeptTilesAmongMany) {
  ImageSpec const spec{.width = 640, .height = 640, .tile_width = 16, .tile_height = 16, .compression = kPackBits};
  testing::TempFolder const folder;
  Dataset const dataset = open(folder.write("a.tif", image<std::uint8_t>(spec).bytes()));
  Window const column{5, 0, 8, 640};
  for (bool const is_again : {false, true}) {
    ReadReport report;
    EXPECT_EQ(values_of<std::uint8_t>(read(dataset, {.window = column, .threads = 2}, &report)),
              expected<std::uint8_t>(column, {1}));
    EXPECT_EQ(report.tiles, 40u);
    EXPECT_EQ(report.bytes_read == 0, is_again);
  }
}

TEST_F(ReadsWithACache, DoNotKeepTilesThatAreUsedWhole) {
  Opened const opened(image<std::uint8_t>(spec_));
  std::uint64_t const before = tile_cache().used_bytes();
  static_cast<void>(read(*opened));
  EXPECT_EQ(tile_cache().used_bytes(), before) << "not even those that reach past the edge";
  static_cast<void>(read(*opened, {.window = Window{64, 64, 36, 36}}));
  EXPECT_EQ(tile_cache().used_bytes(), before);
}

TEST_F(ReadsWithACache, KeepNothingWhenTheCacheIsOff) {
  limit(0);
  Opened const opened(image<std::uint8_t>(spec_));
  std::uint64_t const before = tile_cache().used_bytes();
  for (int round = 0; round < 2; ++round) {
    Window const window{10, 10, 20, 20};
    EXPECT_EQ(values_of<std::uint8_t>(read(*opened, {.window = window})), expected<std::uint8_t>(window, {1}));
  }
  EXPECT_EQ(tile_cache().used_bytes(), before);
}

TEST_F(ReadsWithACache, DoNotKeepATileThatWouldFillIt) {
  limit(64 * 64 * 4);
  Opened const opened(image<std::uint8_t>(spec_));
  std::uint64_t const before = tile_cache().used_bytes();
  static_cast<void>(read(*opened, {.window = Window{10, 10, 20, 20}}));
  EXPECT_EQ(tile_cache().used_bytes(), before);
}

TEST_F(ReadsWithACache, DoNotKeepBadTiles) {
  ImageSpec spec = spec_;
  spec.edit = [](std::uint64_t, std::vector<std::byte>& bytes) { bytes.resize(bytes.size() / 2); };
  Opened const opened(image<std::uint8_t>(spec));
  std::uint64_t const before = tile_cache().used_bytes();
  for (int round = 0; round < 2; ++round) {
    ReadReport report;
    static_cast<void>(read(*opened, {.window = Window{10, 10, 20, 50}, .bad_tile = BadTile::fill}, &report));
    EXPECT_EQ(report.bad_tiles.size(), 1u);
  }
  EXPECT_EQ(tile_cache().used_bytes(), before);
}

TEST_F(ReadsWithACache, LeaveNothingBehindADatasetThatIsClosed) {
  std::uint64_t const before = tile_cache().used_bytes();
  {
    Opened const opened(image<std::uint8_t>(spec_));
    static_cast<void>(read(*opened, {.window = Window{10, 10, 20, 20}}));
    EXPECT_GT(tile_cache().used_bytes(), before);
  }
  EXPECT_EQ(tile_cache().used_bytes(), before);
}

TEST_F(ReadsWithACache, DoNotMistakeOneDatasetForAnother) {
  Window const window{10, 10, 20, 20};
  auto const shifted = [](std::uint32_t b, std::uint32_t r, std::uint32_t c) {
    return static_cast<std::uint8_t>(255 - value_at<std::uint8_t>(b, r, c));
  };
  Opened const a(image<std::uint8_t>(spec_)), b(image<std::uint8_t>(spec_, shifted));
  auto const of_a = values_of<std::uint8_t>(read(*a, {.window = window})),
             of_b = values_of<std::uint8_t>(read(*b, {.window = window}));
  for (std::size_t i = 0; i < of_a.size(); ++i) { ASSERT_EQ(of_a[i] + of_b[i], 255); }
}

}  // namespace
}  // namespace terrazzo::reading
