// SPDX-License-Identifier: Apache-2.0
#include "ops/mosaic/grid.hpp"

#include "support/failure.hpp"

#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <random>
#include <vector>

namespace terrazzo::ops {
namespace {

using Transform = std::array<double, 6>;

constexpr Transform kGrid{1000, 10, 0, 2000, 0, -10};

// Pixels of 10 units; the corner lies this many pixels from that of kGrid.
Footprint at(double column, double row, std::uint32_t width, std::uint32_t height, double pixel = 10) {
  return {{1000 + 10 * column, pixel, 0, 2000 - 10 * row, 0, -pixel}, width, height};
}

std::vector<std::uint32_t> sources(AxisPlace const& place) {
  std::vector<std::uint32_t> all;
  for (std::int64_t i = place.first; i < place.end; ++i) { all.push_back(place.source_of(i)); }
  return all;
}

TEST(MosaicGrid, PlacesAnInputOnTheSameGridByAShift) {
  GridPlace const place = place_on(kGrid, at(3, -2, 5, 4)).value();
  EXPECT_TRUE(place.columns.is_shift());
  EXPECT_EQ(place.columns.first, 3);
  EXPECT_EQ(place.columns.end, 8);
  EXPECT_EQ(place.rows.first, -2);
  EXPECT_EQ(sources(place.columns), (std::vector<std::uint32_t>{0, 1, 2, 3, 4}));
}

TEST(MosaicGrid, SnapsAFractionOfAPixelToTheNearestOne) {
  EXPECT_EQ(place_on(kGrid, at(2.3, 0.7, 5, 4))->columns.first, 2);
  EXPECT_EQ(place_on(kGrid, at(2.3, 0.7, 5, 4))->rows.first, 1);
  // A centre on an edge belongs to the pixel that the edge begins.
  EXPECT_EQ(place_on(kGrid, at(2.5, 0, 5, 4))->columns.first, 2);
  EXPECT_EQ(place_on(kGrid, at(2.5, 0, 5, 4))->columns.end, 7);
}

TEST(MosaicGrid, TakesThePixelUnderTheCentreOfAnotherSize) {
  // Pixels of 4 units: centres of the grid lie at 5, 15, 25 units, in pixels 1, 3 and 6.
  GridPlace const finer = place_on(kGrid, at(0, 0, 7, 7, 4)).value();
  EXPECT_EQ(sources(finer.columns), (std::vector<std::uint32_t>{1, 3, 6}));
  // Pixels of 25 units from column 1 on: centres 1.5 to 5.5.
  GridPlace const coarser = place_on(kGrid, at(1, 0, 2, 2, 25)).value();
  EXPECT_EQ(coarser.columns.first, 1);
  EXPECT_EQ(sources(coarser.columns), (std::vector<std::uint32_t>{0, 0, 1, 1, 1}));
}

TEST(MosaicGrid, TakesPixelsThatDifferByRoundingAsEqual) {
  Footprint input = at(2, 0, 3600, 10);
  input.transform[1] = 10.00000001;
  EXPECT_TRUE(place_on(kGrid, input)->columns.is_shift());
  input.transform[1] = 10.001;
  EXPECT_FALSE(place_on(kGrid, input)->columns.is_shift());
}

TEST(MosaicGrid, HasNoPlaceForRotatedAndMirroredInputs) {
  Footprint rotated = at(0, 0, 100, 100);
  rotated.transform[2] = 1;
  EXPECT_FALSE(place_on(kGrid, rotated));
  Footprint mirrored = at(0, 0, 100, 100);
  mirrored.transform[5] = 10;
  EXPECT_FALSE(place_on(kGrid, mirrored));
}

TEST(MosaicGrid, PlacesInputsThatAreRotatedAlike) {
  Transform const rotated{1000, 8, 6, 2000, 6, -8};
  Footprint const moved{{1000 + 3 * 8 + 2 * 6, 8, 6, 2000 + 3 * 6 - 2 * 8, 6, -8}, 5, 4};
  GridPlace const place = place_on(rotated, moved).value();
  EXPECT_EQ(place.columns.first, 3);
  EXPECT_EQ(place.rows.first, 2);
}

TEST(MosaicGrid, RefusesInputsThatAreTooFarAway) {
  EXPECT_EQ(testing::kind_of_failure([] { return place_axis(1, 1e17, 10); }), ErrorKind::limit);
  EXPECT_EQ(testing::kind_of_failure([] { return place_axis(2, NAN, 10); }), ErrorKind::limit);
  std::vector<Footprint> const far{at(0, 0, 10, 10), at(3e9, 0, 10, 10)};
  EXPECT_EQ(testing::kind_of_failure([&] { return covering_grid(far, std::nullopt); }), ErrorKind::limit);
}

TEST(MosaicGrid, CoversAllInputsWithThePixelsOfTheFirst) {
  std::vector<Footprint> const inputs{at(0, 0, 10, 10), at(-4, 5, 10, 10), at(8.4, 0, 3, 3)};
  Grid const grid = covering_grid(inputs, std::nullopt);
  EXPECT_EQ(grid.transform, (Transform{960, 10, 0, 2000, 0, -10}));
  EXPECT_EQ(grid.width, 15U);  // columns -4 to 10: the last one ends at 8 + 3
  EXPECT_EQ(grid.height, 15U);
}

TEST(MosaicGrid, CoversAllInputsWithPixelsOfTheResolution) {
  std::vector<Footprint> const inputs{at(0, 0, 10, 10), at(-4, 0, 10, 10)};
  Grid const grid = covering_grid(inputs, TargetResolution{30, 50});
  EXPECT_EQ(grid.transform, (Transform{960, 30, 0, 2000, 0, -50}));
  EXPECT_EQ(grid.width, 5U);  // 140 units
  EXPECT_EQ(grid.height, 2U);
  EXPECT_EQ(testing::kind_of_failure([&] { return covering_grid(inputs, TargetResolution{0, 1}); }), ErrorKind::usage);
  EXPECT_EQ(testing::kind_of_failure([&] {
              return covering_grid(inputs, TargetResolution{1e-9, 1});
            }),
            ErrorKind::limit);
}

TEST(MosaicGrid, TakesAllPixelsThatABoxTouches) {
  Grid const grid = grid_of_box(at(0, 0, 10, 10), {-1.5, 2, 3.2, 4.0000000001}, std::nullopt);
  EXPECT_EQ(grid.transform, (Transform{980, 10, 0, 1980, 0, -10}));
  EXPECT_EQ(grid.width, 6U);
  EXPECT_EQ(grid.height, 2U);
  Grid const exact = grid_of_box(at(0, 0, 10, 10), {-1.5, 2, 3.2, 4}, TargetResolution{10, 10});
  EXPECT_EQ(exact.transform[0], 985);
  EXPECT_EQ(exact.width, 5U);
}

TEST(MosaicGrid, ClipsTheTargetToTheMosaic) {
  Grid const grid{kGrid, 10, 10};
  EXPECT_EQ(target_of(place_on(kGrid, at(-2, 7, 5, 5)).value(), grid), (Window{0, 7, 3, 3}));
  EXPECT_EQ(target_of(place_on(kGrid, at(10, 0, 5, 5)).value(), grid), (Window{}));
}

TEST(MosaicGrid, KnowsWhetherThePartsCoverIt) {
  Grid const grid{kGrid, 10, 10};
  std::vector<Window> parts{{0, 0, 6, 10}, {5, 0, 5, 4}, {6, 4, 4, 6}};
  EXPECT_TRUE(covers_all(parts, grid));
  parts[2].height = 5;
  EXPECT_FALSE(covers_all(parts, grid));
  EXPECT_FALSE(covers_all({}, grid));
  parts = {{0, 0, 10, 4}, {0, 5, 10, 5}};
  EXPECT_FALSE(covers_all(parts, grid));
  parts = {{0, 0, 10, 9}};
  EXPECT_FALSE(covers_all(parts, grid));
  parts = {{0, 1, 10, 9}, {}};
  EXPECT_FALSE(covers_all(parts, grid));
  parts = {{0, 0, 3, 10}, {3, 0, 3, 10}, {7, 0, 3, 10}};
  EXPECT_FALSE(covers_all(parts, grid));
  parts.push_back({5, 0, 2, 10});
  EXPECT_TRUE(covers_all(parts, grid));
}

// Against marked pixels.
TEST(MosaicGrid, KnowsTheCoverOfRandomParts) {
  std::minstd_rand random(1);
  Grid const grid{kGrid, 7, 7};
  for (int round = 0; round < 1000; ++round) {
    std::vector<Window> parts;
    std::vector<bool> seen(49);
    for (int i = 0; i < 14; ++i) {
      auto const column = static_cast<std::uint32_t>(random() % 7), row = static_cast<std::uint32_t>(random() % 7);
      Window const part{column, row, 1 + static_cast<std::uint32_t>(random() % (7 - column)),
                        1 + static_cast<std::uint32_t>(random() % (7 - row))};
      parts.push_back(part);
      for (std::uint32_t y = row; y < row + part.height; ++y) {
        for (std::uint32_t x = column; x < column + part.width; ++x) { seen[y * 7 + x] = true; }
      }
    }
    ASSERT_EQ(covers_all(parts, grid), std::ranges::find(seen, false) == seen.end()) << round;
  }
}

// A quadratic search takes seconds.
TEST(MosaicGrid, KnowsSoonWhetherManyIrregularPartsCoverIt) {
  constexpr std::uint32_t kColumns = 200, kRows = 300, kHeight = 1000;
  Grid const grid{kGrid, kColumns, kRows * kHeight};
  std::vector<Window> parts;
  for (std::uint32_t column = 0; column < kColumns; ++column) {
    for (std::uint32_t i = 0; i < kRows; ++i) {
      // Every part begins and ends at rows of its own, and overlaps its neighbours.
      std::uint32_t const first = i == 0 ? 0 : i * kHeight - 2 * column - 1;
      std::uint32_t const end = i == kRows - 1 ? grid.height : (i + 1) * kHeight + 2 * column;
      parts.push_back({column, first, 1, end - first});
    }
  }
  std::clock_t const begin = std::clock();
  EXPECT_TRUE(covers_all(parts, grid));
  EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 2);
  parts[30'050].width = 0;
  EXPECT_FALSE(covers_all(parts, grid));
}

}  // namespace
}  // namespace terrazzo::ops
