// SPDX-License-Identifier: Apache-2.0
#include "read/read_report.hpp"

#include <gtest/gtest.h>

namespace terrazzo::reading {
namespace {

TEST(AddReport, AddsEveryCountAndAppendsBadTiles) {
  ReadReport total{.tiles = 1, .sparse_tiles = 2, .bytes_read = 3, .surplus_tiles = 4, .bad_tiles = {{.message = "a"}}};
  ReadReport const part{.tiles = 10,
                        .sparse_tiles = 20,
                        .bytes_read = 30,
                        .surplus_tiles = 40,
                        .bad_tiles = {{.message = "a"}, {.tile = {1, 2, 0}, .kind = ErrorKind::io, .message = "b"}}};
  add_report(total, part);
  EXPECT_EQ(total.tiles, 11u);
  EXPECT_EQ(total.sparse_tiles, 22u);
  EXPECT_EQ(total.bytes_read, 33u);
  EXPECT_EQ(total.surplus_tiles, 44u);
  ASSERT_EQ(total.bad_tiles.size(), 3u);
  EXPECT_EQ(total.bad_tiles[1].message, "a") << "the same tile of another part is told again";
  EXPECT_EQ(total.bad_tiles[2].message, "b");
  EXPECT_EQ(total.bad_tiles[2].kind, ErrorKind::io);
  EXPECT_EQ(part.bad_tiles.size(), 2u);
}

TEST(DropRepeats, KeepsTheFirstOfEqualReports) {
  std::vector<BadTileReport> tiles{{.tile = {1, 2, 0}, .message = "a"},
                                   {.tile = {1, 2, 1}, .message = "a"},
                                   {.tile = {1, 2, 0}, .message = "a"},
                                   {.tile = {1, 2, 0}, .message = "b"}};
  drop_repeats(tiles);
  ASSERT_EQ(tiles.size(), 3u);
  EXPECT_EQ(tiles[1].tile.plane, 1u);
  EXPECT_EQ(tiles[2].message, "b");
}

}  // namespace
}  // namespace terrazzo::reading
