// SPDX-License-Identifier: Apache-2.0
#include "read/host_read.hpp"

#include "read/host_read_fixture.hpp"

#include <gtest/gtest.h>

namespace terrazzo::reading {
namespace {

using test::PlannedRead;

TEST(HostRead, GivesSmallBlocksOutTogetherAndLargeOnesOneByOne) {
  PlannedRead const small({.width = 640, .height = 64, .tile_width = 16, .tile_height = 16, .compression = kPackBits});
  EXPECT_EQ(small.read.tasks, 160u);
  EXPECT_EQ(small.read.tasks_at_once, 64u);
  EXPECT_EQ(small.read.blocks_in(77), 77u);
  PlannedRead const large({.width = 600, .height = 600, .compression = kPackBits});
  EXPECT_EQ(large.read.tasks_at_once, 1u);
}

TEST(HostRead, GivesTwoOutTogetherWhereThePlanSaysSo) {
  if (codec::find_codec(tiff::Compression::deflate)->decode_two == nullptr) { GTEST_SKIP() << "never faster here"; }
  ImageSpec spec{.width = 1024, .height = 1024, .tile_width = 512, .tile_height = 512, .compression = 8};
  EXPECT_EQ(PlannedRead(spec, {.threads = 1}).read.tasks_at_once, 2u);
  EXPECT_EQ(PlannedRead(spec, {.threads = 4}).read.tasks_at_once, 1u);
  spec.tile_width = spec.tile_height = 128;
  EXPECT_EQ(PlannedRead(spec, {.threads = 1}).read.tasks_at_once, 16u) << "small ones go together anyway";
}

TEST(HostRead, TakesPiecesOfBlocksThatAreNotCompressed) {
  PlannedRead const planned({.width = 1000, .height = 3000}, {.threads = 2});
  ASSERT_TRUE(planned.read.raw_pieces.has_value());
  EXPECT_EQ(planned.read.tasks, 8u) << "four for each thread";
  EXPECT_EQ(planned.read.tasks_at_once, 1u);
  EXPECT_EQ(planned.read.blocks_in(7), 0u);
  EXPECT_EQ(planned.read.blocks_in(8), 1u);
}

}  // namespace
}  // namespace terrazzo::reading
