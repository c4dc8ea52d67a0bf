// SPDX-License-Identifier: Apache-2.0
#include "tiff/block_lists.hpp"

#include "support/tiff_builder.hpp"

#include <gtest/gtest.h>

namespace terrazzo::tiff {
namespace {

using testing::TiffBuilder;

TEST(BlockLists, AreThoseOfTheirKindFirst) {
  TiffBuilder builder;
  builder.longs(tag::StripOffsets, {1}).longs(tag::StripByteCounts, {2, 3});
  builder.longs(tag::TileOffsets, {4, 5, 6}).longs(tag::TileByteCounts, {7, 8, 9, 10});
  Directory const directory = builder.directory();
  BlockLists const tiles(directory, true), strips(directory, false);
  EXPECT_EQ(tiles.offsets.name, "TileOffsets");
  EXPECT_EQ(tiles.offsets.entry->count, 3u);
  EXPECT_EQ(tiles.sizes.name, "TileByteCounts");
  EXPECT_EQ(tiles.sizes.entry->count, 4u);
  EXPECT_EQ(strips.offsets.name, "StripOffsets");
  EXPECT_EQ(strips.offsets.entry->count, 1u);
  EXPECT_EQ(strips.sizes.name, "StripByteCounts");
  EXPECT_EQ(strips.sizes.entry->count, 2u);
  for (BlockList const& list : {tiles.offsets, tiles.sizes, strips.offsets, strips.sizes}) {
    EXPECT_TRUE(list.is_in_file) << list.name;
  }
}

TEST(BlockLists, MayBeThoseOfTheOtherKind) {
  TiffBuilder builder;
  builder.longs(tag::StripOffsets, {1, 2}).longs(tag::TileByteCounts, {7, 8});
  Directory const directory = builder.directory();
  for (bool const tiled : {false, true}) {
    BlockLists const lists(directory, tiled);
    EXPECT_EQ(lists.offsets.name, "StripOffsets");
    EXPECT_EQ(lists.sizes.name, "TileByteCounts");
  }
}

TEST(BlockLists, MayBeMissingOrLieOutsideTheFile) {
  TiffBuilder builder;
  builder.longs(tag::ImageWidth, {1});
  BlockLists const none(builder.directory(), true);
  EXPECT_EQ(none.offsets.entry, nullptr);
  EXPECT_FALSE(none.offsets.is_in_file);
  EXPECT_EQ(none.sizes.entry, nullptr);
  builder.raw(tag::TileOffsets, 4, 1'000'000, {std::byte{0xFF}, std::byte{0xFF}, std::byte{0xFF}, std::byte{0x7F}});
  Directory const directory = builder.directory();
  BlockLists const outside(directory, true);
  ASSERT_NE(outside.offsets.entry, nullptr);
  EXPECT_FALSE(outside.offsets.is_in_file);
}

}  // namespace
}  // namespace terrazzo::tiff
