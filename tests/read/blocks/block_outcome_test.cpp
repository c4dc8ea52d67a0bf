// SPDX-License-Identifier: Apache-2.0
#include "read/blocks/block_outcome.hpp"

#include "read/images.hpp"
#include "read/small_tiles.hpp"

#include <gtest/gtest.h>

namespace terrazzo::reading {
namespace {

using test::tiles;
using tile::TileResult;
using tile::TileStatus;

class JudgeBlock : public ::testing::Test {
 protected:
  [[nodiscard]] BlockOutcome judge(TileResult const& result, ReadRequest const& request = {}) const {
    return judge_block(level_of(opened_), {1, 2, 0}, result, request);
  }

 private:
  Opened opened_{image<std::uint8_t>(tiles())};
};

TEST_F(JudgeBlock, TakesAllRowsOfAGoodBlockAndNoneOfASparseOne) {
  EXPECT_EQ(judge({}).good_rows, 16u);
  BlockOutcome const sparse = judge({.status = TileStatus::sparse});
  EXPECT_EQ(sparse.good_rows, 0u);
  EXPECT_FALSE(sparse.error || sparse.bad);
}

TEST_F(JudgeBlock, MakesSurplusDataAnErrorOnlyOfAStrictRead) {
  TileResult const surplus{.surplus_input = true};
  EXPECT_FALSE(judge(surplus).error);
  BlockOutcome const strict = judge(surplus, {.strict = true});
  ASSERT_TRUE(strict.error);
  EXPECT_EQ(strict.error->kind(), ErrorKind::malformed);
}

TEST_F(JudgeBlock, NamesFileTileAndReason) {
  BlockOutcome const outcome = judge({.status = TileStatus::corrupt, .reason = "a bad run"});
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->where().source, "memory.tif");
  EXPECT_EQ(outcome.error->where().tile, (TileId{1, 2, 0}));
  EXPECT_TRUE(outcome.error->where().offset.has_value());
  EXPECT_NE(outcome.error->message().find("a bad run"), std::string::npos);
  EXPECT_EQ(outcome.good_rows, 0u);
}

TEST_F(JudgeBlock, KeepsWholeRowsOfATruncatedBlockThatIsFilled) {
  TileResult const result{.status = TileStatus::truncated, .bytes_written = 16 * 5 + 3, .reason = "it ends"};
  BlockOutcome const outcome = judge(result, {.bad_tile = BadTile::fill});
  EXPECT_FALSE(outcome.error);
  EXPECT_EQ(outcome.good_rows, 5u);
  ASSERT_TRUE(outcome.bad);
  EXPECT_EQ(outcome.bad->tile, (TileId{1, 2, 0}));
  EXPECT_EQ(outcome.bad->source, "memory.tif");
}

TEST_F(JudgeBlock, DoesNotFillWhatALimitKeptFromBeingDecoded) {
  BlockOutcome const outcome =
      judge({.status = TileStatus::out_of_memory, .reason = "out of memory"}, {.bad_tile = BadTile::fill});
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->kind(), ErrorKind::limit);
}

TEST(KindOfABadBlock, IsALimitOnlyForWantOfMemory) {
  auto const kind = [](TileStatus status, char const* reason) { return kind_of({.status = status, .reason = reason}); };
  EXPECT_EQ(kind(TileStatus::out_of_memory, "out of memory"), ErrorKind::limit);
  EXPECT_EQ(kind(TileStatus::failed, "the codec library threw an exception"), ErrorKind::malformed);
  EXPECT_EQ(kind(TileStatus::failed, "libtiff knows the block by another size"), ErrorKind::malformed);
  EXPECT_EQ(kind(TileStatus::failed, nullptr), ErrorKind::malformed);
  EXPECT_EQ(kind(TileStatus::unsupported, "progressive"), ErrorKind::unsupported);
  EXPECT_EQ(kind(TileStatus::corrupt, "out of memory"), ErrorKind::malformed);
  EXPECT_EQ(kind(TileStatus::truncated, "ends early"), ErrorKind::malformed);
}

}  // namespace
}  // namespace terrazzo::reading
