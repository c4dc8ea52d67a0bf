// SPDX-License-Identifier: Apache-2.0
#include "read/host/read_context.hpp"

#include "codec/registry/codec.hpp"
#include "read/host/read_context_fixture.hpp"
#include "read/host/tile_cache.hpp"
#include "read/with_cache.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace terrazzo::reading {
namespace {

using test::PlannedRead;

TEST(ReadContext, GivesSmallBlocksOutTogetherAndLargeOnesOneByOne) {
  PlannedRead const small({.width = 640, .height = 64, .tile_width = 16, .tile_height = 16, .compression = kPackBits});
  EXPECT_EQ(small.read.tasks, 160u);
  EXPECT_EQ(small.read.tasks_at_once, 64u);
  EXPECT_EQ(small.read.blocks_in(77), 77u);
  PlannedRead const large({.width = 600, .height = 600, .compression = kPackBits});
  EXPECT_EQ(large.read.tasks_at_once, 1u);
}

TEST(ReadContext, GivesTwoOutTogetherWhereThePlanSaysSo) {
  if (codec::find_codec(tiff::Compression::deflate)->blocks_at_once < 2) { GTEST_SKIP() << "never faster here"; }
  ImageSpec spec{.width = 1024, .height = 1024, .tile_width = 512, .tile_height = 512, .compression = 8};
  EXPECT_EQ(PlannedRead(spec, {.threads = 1}).read.tasks_at_once, 2u);
  EXPECT_EQ(PlannedRead(spec, {.threads = 4}).read.tasks_at_once, 1u);
  spec.tile_width = spec.tile_height = 128;
  EXPECT_EQ(PlannedRead(spec, {.threads = 1}).read.tasks_at_once, 16u) << "small ones go together anyway";
}

TEST(ReadContext, TakesPiecesOfBlocksThatAreNotCompressed) {
  PlannedRead const planned({.width = 1000, .height = 3000}, {.threads = 2});
  ASSERT_TRUE(planned.read.raw_pieces.has_value());
  EXPECT_EQ(planned.read.tasks, 8u) << "four for each thread";
  EXPECT_EQ(planned.read.tasks_at_once, 1u);
  EXPECT_EQ(planned.read.blocks_in(7), 0u);
  EXPECT_EQ(planned.read.blocks_in(8), 1u);
}

class HostReadWithCache : public test::WithCache {};

// Tiles of 1 MiB, of which the cache has the first and the third.
struct PartlyKept : PlannedRead {
  explicit PartlyKept(ReadRequest const& asked)
      : PlannedRead({.width = 1024, .height = 3072, .tile_width = 1024, .tile_height = 1024, .compression = kPackBits},
                    asked) {
    for (std::uint64_t const number : {0u, 2u}) {
      tile_cache().insert({plan->level->id, number}, std::make_shared<CachedBlock>(1 << 20), 1 << 24);
    }
  }
};

TEST_F(HostReadWithCache, DecodesWhatTheCacheLacksAndThenPlacesTheRest) {
  PartlyKept const planned({.threads = 4});
  ReadContext const read(*planned.plan, planned.request, planned.view, planned.read.budget);
  ASSERT_TRUE(read.kept.has_value());
  EXPECT_EQ(read.tasks, 17u) << "a block, and eight pieces of each of the others";
  EXPECT_EQ(read.block_of(0), 1u);
  EXPECT_EQ(read.cached_piece(0), nullptr);
  ASSERT_NE(read.cached_piece(1), nullptr);
  EXPECT_EQ(read.block_of(1), 0u);
  EXPECT_EQ(read.block_of(9), 2u);
  EXPECT_EQ(read.cached_piece(16), &read.kept->pieces().back());
  EXPECT_EQ(read.blocks_in(1), 1u);
  EXPECT_EQ(read.blocks_in(8), 1u);
  EXPECT_EQ(read.blocks_in(9), 2u);
  EXPECT_EQ(read.blocks_in(17), 3u);
  EXPECT_EQ(read.threads, planned.plan->threads) << "never more than planned: 3";
}

TEST_F(HostReadWithCache, WakesFewerThreadsForLittleThatIsKept) {
  PartlyKept const planned({.window = Window{0, 0, 9, 3072}, .threads = 4});
  ReadContext const read(*planned.plan, planned.request, planned.view, planned.read.budget);
  EXPECT_EQ(planned.plan->threads, 3u);
  EXPECT_EQ(read.threads, 2u) << "one decodes, one places";
}

TEST_F(HostReadWithCache, GivesTwoOutTogetherAsLongAsEveryThreadHasTwo) {
  if (codec::find_codec(tiff::Compression::deflate)->blocks_at_once < 2) { GTEST_SKIP() << "never faster here"; }
  PlannedRead const planned({.width = 1024, .height = 1024, .tile_width = 512, .tile_height = 512, .compression = 8},
                            {.threads = 1});
  std::vector<std::uint64_t> at_once;
  for (std::uint64_t const number : {0u, 3u, 1u}) {
    tile_cache().insert({planned.plan->level->id, number}, std::make_shared<CachedBlock>(512 * 512), 1 << 24);
    at_once.push_back(ReadContext(*planned.plan, planned.request, planned.view, planned.read.budget).tasks_at_once);
  }
  EXPECT_EQ(at_once, (std::vector<std::uint64_t>{2, 2, 1}));
}

// Or one of them would decode all that is missing of small blocks.
TEST_F(HostReadWithCache, SharesOutWhatIsMissing) {
  PlannedRead const planned(
      {.width = 768, .height = 768, .tile_width = 256, .tile_height = 256, .compression = kPackBits}, {.threads = 4});
  EXPECT_EQ(planned.read.tasks_at_once, 4u);
  for (std::uint64_t const number : {0u, 1u, 3u, 4u, 6u, 7u}) {
    tile_cache().insert({planned.plan->level->id, number}, std::make_shared<CachedBlock>(65536), 1 << 24);
  }
  ReadContext const read(*planned.plan, planned.request, planned.view, planned.read.budget);
  EXPECT_EQ(read.kept->missing().size(), 3u);
  EXPECT_EQ(read.tasks_at_once, 1u);
}

TEST_F(HostReadWithCache, OfManyBlocksMakesNoListOfThem) {
  PlannedRead const planned(
      {.width = 4608, .height = 512, .tile_width = 512, .tile_height = 512, .compression = kPackBits}, {.threads = 1});
  tile_cache().insert({planned.plan->level->id, 0}, std::make_shared<CachedBlock>(512 * 512), 1 << 24);
  ReadContext const read(*planned.plan, planned.request, planned.view, planned.read.budget);
  EXPECT_EQ(read.tasks, 9u);
  EXPECT_FALSE(read.kept.has_value());
  EXPECT_TRUE(read.uses_cache);
}

TEST_F(HostReadWithCache, OfAStrictReadFindsNothingKept) {
  PartlyKept const planned({.strict = true});
  ReadContext const read(*planned.plan, planned.request, planned.view, planned.read.budget);
  EXPECT_FALSE(read.kept.has_value());
  EXPECT_FALSE(read.uses_cache);
  EXPECT_EQ(read.tasks, 3u);
  EXPECT_EQ(read.block_of(2), 2u);
  EXPECT_EQ(read.cached_piece(2), nullptr);
}

}  // namespace
}  // namespace terrazzo::reading
