// SPDX-License-Identifier: Apache-2.0
#include "read/filter/absent_rows.hpp"

#include "read/images.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>

namespace terrazzo::reading {
namespace {

// Four columns and six rows of tiles of 16 pixels; only the tiles of `present` are in the file.
Opened tiles(std::set<std::uint64_t> const& present) {
  return Opened(image<std::uint8_t>({.width = 64,
                                     .height = 96,
                                     .tile_width = 16,
                                     .tile_height = 16,
                                     .edit = [&](std::uint64_t block, std::vector<std::byte>& bytes) {
                                       if (!present.contains(block)) { bytes.clear(); }
                                     }}));
}

TEST(AbsentRows, CoverRowsWithoutABlock) {
  Opened const opened = tiles({2 * 4 + 3});  // the last tile of the third row
  auto const plan = make_plan(opened->shared_impl(), {});
  for (std::uint32_t const rows : {1U, 7U, 16U, 40U}) {
    AbsentRows absent(*plan, plan->window);
    for (std::uint32_t first = 0; first + rows <= 96; ++first) {
      bool const touches = first < 48 && first + rows > 32;
      EXPECT_EQ(absent.cover(first, first + rows), !touches) << first << ", " << rows << " rows";
    }
  }
}

TEST(AbsentRows, LooksOnlyAtTheColumnsOfItsWindow) {
  Opened const opened = tiles({2 * 4 + 3});
  ReadRequest request;
  request.window = Window{0, 20, 64, 60};
  auto const plan = make_plan(opened->shared_impl(), request);
  AbsentRows left(*plan, {0, 20, 48, 60}), right(*plan, {47, 20, 2, 60});
  EXPECT_TRUE(left.cover(0, 60));
  EXPECT_FALSE(right.cover(0, 60));
  EXPECT_TRUE(right.cover(28, 60)) << "rows count from the window's first";
}

TEST(AbsentRows, CountsABlockOnce) {
  Opened const opened = tiles({});
  auto const plan = make_plan(opened->shared_impl(), {});
  AbsentRows absent(*plan, {10, 0, 30, 96});  // three columns of tiles
  EXPECT_EQ(absent.count(0, 10), 3u);
  EXPECT_EQ(absent.count(10, 16), 0u);
  EXPECT_EQ(absent.count(12, 40), 6u);
  EXPECT_EQ(absent.count(90, 96), 3u);
}

}  // namespace
}  // namespace terrazzo::reading
