// SPDX-License-Identifier: Apache-2.0
#include "read/device/fallback/returned_tiles.hpp"

#include "read/images.hpp"
#include "read/open/dataset.hpp"

#include <gtest/gtest.h>

namespace terrazzo::reading {
namespace {

std::vector<std::byte> bytes_at(ByteSource const& source, std::uint64_t offset, std::size_t count) {
  std::vector<std::byte> bytes(count);
  source.read(offset, bytes);
  return bytes;
}

TEST(ReturnedTiles, ALevelOfWhichNothingCameBackIsItself) {
  Opened const opened(image<std::uint8_t>({.width = 32, .height = 32}));
  MemoryBudget budget(1 << 20);
  ReturnedTiles const returned(budget);
  LevelPtr const& level = opened->shared_impl()->levels[0];
  EXPECT_EQ(returned.level_for(level), level);
}

TEST(ReturnedTiles, WhatCameBackIsReadInsteadOfTheFile) {
  Opened const opened(image<std::uint8_t>({.width = 32, .height = 32}));
  MemoryBudget budget(1 << 20);
  ReturnedTiles returned(budget);
  LevelPtr const& level = opened->shared_impl()->levels[0];
  tiff::BlockRange const range = level->index.range(0);
  std::vector<std::byte> const other(static_cast<std::size_t>(range.size_bytes), std::byte{0x5C});
  returned.keep(*level, range.offset_bytes, other);
  LevelPtr const through = returned.level_for(level);
  EXPECT_NE(through, level);
  EXPECT_NE(through->id, level->id);  // the tile cache must not mix them up
  EXPECT_EQ(bytes_at(*through->source, range.offset_bytes, other.size()), other);
  EXPECT_EQ(bytes_at(*through->source, 0, 4), bytes_at(*level->source, 0, 4));
  EXPECT_EQ(through->index.range(0).offset_bytes, range.offset_bytes);
}

TEST(ReturnedTiles, WithoutRoomTheFileIsReadAgain) {
  Opened const opened(image<std::uint8_t>({.width = 32, .height = 32}));
  MemoryBudget budget(10);
  ReturnedTiles returned(budget);
  LevelPtr const& level = opened->shared_impl()->levels[0];
  std::vector<std::byte> const other(100, std::byte{0x5C});
  returned.keep(*level, 8, other);
  EXPECT_EQ(bytes_at(*returned.level_for(level)->source, 8, 100), bytes_at(*level->source, 8, 100));
}

}  // namespace
}  // namespace terrazzo::reading
