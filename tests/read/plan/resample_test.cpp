// SPDX-License-Identifier: Apache-2.0
#include "read/plan/resample.hpp"

#include "read/images.hpp"
#include "support/failure.hpp"
#include "support/temp_folder.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <string>

namespace terrazzo::reading {
namespace {

// 120 x 90 with overviews of 60 x 45 and 30 x 23; each level's values tell it apart.
struct Size {
  std::uint32_t width, height, type, add;
};
constexpr Size kPyramid[] = {{120, 90, 0, 0}, {60, 45, 1, 1000}, {30, 23, 1, 2000}};

testing::TiffBuilder pyramid(std::span<Size const> levels = kPyramid) {
  testing::TiffBuilder builder;
  for (Size const& s : levels) {
    if (&s != &levels.front()) { builder.next_ifd(); }
    add_image<std::uint16_t>(builder,
                             {.width = s.width,
                              .height = s.height,
                              .tile_width = 16,
                              .tile_height = 16,
                              .compression = kPackBits,
                              .subfile_type = s.type},
                             [add = s.add](std::uint32_t b, std::uint32_t r, std::uint32_t c) {
                               return static_cast<std::uint16_t>(value_at<std::uint16_t>(b, r, c) + add);
                             });
  }
  return builder;
}

// The pixel under the centre of each result pixel.
std::vector<std::uint16_t> nearest(Window const& window, TargetSize target, std::uint32_t level) {
  std::uint32_t const widths[] = {120, 60, 30}, heights[] = {90, 45, 23};
  double const fx = widths[level] / 120.0, fy = heights[level] / 90.0;
  std::vector<std::uint16_t> values;
  for (std::uint32_t r = 0; r < target.height; ++r) {
    for (std::uint32_t c = 0; c < target.width; ++c) {
      auto const at = [](double first, double size, std::uint32_t i, std::uint32_t n) {
        return static_cast<std::uint32_t>(std::floor(first + (i + 0.5) * size / n + 1e-10));
      };
      std::uint32_t const row = at(window.row * fy, window.height * fy, r, target.height);
      std::uint32_t const column = at(window.column * fx, window.width * fx, c, target.width);
      values.push_back(static_cast<std::uint16_t>(value_at<std::uint16_t>(0, row, column) + 1000 * level));
    }
  }
  return values;
}

struct ResampleCase {
  Window window;
  TargetSize target;
  std::uint32_t level;
};

TEST(Resample, TakesTheLevelAndPixelsThatGdalTakes) {
  Opened const opened(pyramid());
  ResampleCase const cases[] = {
      {{0, 0, 120, 90}, {120, 90}, 0},  // as it is
      {{0, 0, 120, 90}, {60, 45}, 1},   // exactly an overview
      {{0, 0, 120, 90}, {30, 23}, 2},   {{0, 0, 120, 90}, {100, 75}, 0},  // 1.2: the overview would be too coarse
      {{0, 0, 120, 90}, {75, 56}, 1},   // 1.6 x 1.2 + 0.1 > 2
      {{0, 0, 120, 90}, {76, 57}, 0},   // 1.58 x 1.2 + 0.1 < 2
      {{0, 0, 120, 90}, {7, 5}, 2},     {{0, 0, 120, 90}, {1, 1}, 2},
      {{0, 0, 120, 90}, {240, 180}, 0},  // larger than it is
      {{0, 0, 120, 90}, {500, 90}, 0},  {{10, 20, 40, 30}, {20, 15}, 1},
      {{10, 20, 40, 30}, {13, 7}, 1},   // 3.08: between the overviews
      {{11, 21, 41, 31}, {10, 7}, 2},   {{119, 89, 1, 1}, {5, 5}, 0},     // one pixel, many times
      {{0, 0, 120, 90}, {120, 45}, 0},  // the smaller of both ratios counts
      {{15, 15, 2, 2}, {9, 9}, 0},      // across the corner of four tiles
  };
  for (ResampleCase const& c : cases) {
    SCOPED_TRACE(::testing::Message() << c.window.width << "x" << c.window.height << " to " << c.target.width << "x"
                                      << c.target.height);
    ReadRequest const request{.window = c.window, .target_size = c.target};
    ReadPlan const p = plan(*opened, request);
    EXPECT_EQ(p.level(), c.level);
    EXPECT_EQ(p.width(), c.target.width);
    EXPECT_EQ(p.height(), c.target.height);
    EXPECT_EQ(values_of<std::uint16_t>(read(*opened, request)), nearest(c.window, c.target, c.level));
  }
}

// To GDAL the first overview beside a file has the others for its own, and chooses anew.
TEST(Resample, ChoosesTwiceOfOverviewsBesideTheFile) {
  testing::TempFolder const folder;
  std::string const path = folder.write("a.tif", pyramid(std::span(kPyramid).first(1)).bytes());
  static_cast<void>(folder.write("a.tif.ovr", pyramid(std::span(kPyramid).subspan(1)).bytes()));
  Opened const inside(pyramid());
  Dataset const beside = open(path);
  ResampleCase const cases[] = {
      {{0, 0, 120, 90}, {38, 28}, 2},  // 3.158 is too fine for 3.913, but 1.579 not for 1.957
      {{0, 0, 120, 90}, {36, 27}, 2}, {{0, 0, 120, 90}, {39, 29}, 1},  // 3.08 and 1.54
      {{36, 1, 28, 41}, {7, 13}, 2},  // 20.5 of its rows become 21
      {{36, 1, 28, 40}, {7, 13}, 1},  {{0, 0, 120, 90}, {75, 56}, 1}, {{0, 0, 120, 90}, {100, 75}, 0},
  };
  std::size_t differ = 0;
  for (ResampleCase const& c : cases) {
    SCOPED_TRACE(::testing::Message() << c.target.width << "x" << c.target.height);
    ReadRequest const request{.window = c.window, .target_size = c.target};
    EXPECT_EQ(plan(beside, request).level(), c.level);
    EXPECT_EQ(values_of<std::uint16_t>(read(beside, request)), nearest(c.window, c.target, c.level));
    differ += plan(*inside, request).level() != c.level ? 1 : 0;
  }
  EXPECT_EQ(differ, 2u);
}

TEST(Resample, GivesTheSameFromRawStripsAndSeparatePlanes) {
  for (bool const separate : {false, true}) {
    Opened const opened(
        image<std::uint8_t>({.width = 50, .height = 40, .bands = 2, .rows_per_strip = 3, .separate = separate}));
    for (TargetSize const target : {TargetSize{13, 11}, TargetSize{150, 90}}) {
      HostArray const array =
          read(*opened, {.window = Window{5, 4, 43, 33}, .bands = {2, 1}, .target_size = target, .threads = 3});
      auto const values = values_of<std::uint8_t>(array);
      std::size_t i = 0;
      for (std::uint32_t const band : {1u, 0u}) {
        for (std::uint32_t r = 0; r < target.height; ++r) {
          for (std::uint32_t c = 0; c < target.width; ++c) {
            auto const row = static_cast<std::uint32_t>(4 + (r + 0.5) * 33 / target.height + 1e-10);
            auto const column = static_cast<std::uint32_t>(5 + (c + 0.5) * 43 / target.width + 1e-10);
            ASSERT_EQ(values[i++], (value_at<std::uint8_t>(band, row, column))) << r << "," << c;
          }
        }
      }
    }
  }
}

TEST(Resample, ReadsOnlyTilesThatItUses) {
  Opened const opened(image<std::uint8_t>(
      {.width = 160, .height = 160, .tile_width = 16, .tile_height = 16, .compression = kPackBits}));
  ReadReport report;
  HostArray const array = read(*opened, {.target_size = TargetSize{2, 2}}, &report);
  EXPECT_EQ(report.tiles, 4u) << "of a hundred";
  EXPECT_EQ(values_of<std::uint8_t>(array),
            (std::vector<std::uint8_t>{value_at<std::uint8_t>(0, 40, 40), value_at<std::uint8_t>(0, 40, 120),
                                       value_at<std::uint8_t>(0, 120, 40), value_at<std::uint8_t>(0, 120, 120)}));
}

TEST(Resample, MapsStayInsideTheirLevel) {
  Opened const opened(pyramid());
  Dataset::Impl const& impl = *opened->shared_impl();
  for (std::uint32_t side = 1; side < 260; ++side) {
    SourcePixels const r =
        choose_resampling(impl, {119 - side % 100, 89 - side % 80, 1 + side % 100, 1 + side % 80}, {side, side});
    tiff::Image const& image = impl.levels[r.level]->image;
    ASSERT_LE(r.window.column + r.window.width, image.width_px);
    ASSERT_LE(r.window.row + r.window.height, image.height_px);
    if (r.columns.empty()) { continue; }
    ASSERT_TRUE(std::ranges::is_sorted(r.columns) && std::ranges::is_sorted(r.rows));
    ASSERT_EQ(r.columns.front(), 0u);
    ASSERT_EQ(r.columns.back() + 1, r.window.width);
    ASSERT_EQ(r.rows.back() + 1, r.window.height);
  }
}

constexpr Resampling kMethods[] = {Resampling::nearest, Resampling::average,      Resampling::bilinear,
                                   Resampling::cubic,   Resampling::cubic_spline, Resampling::lanczos,
                                   Resampling::median};

TEST(ResampleToGrid, HasThePixelsOfATargetSizeWhereTheGridIsTheSame) {
  Opened const opened(pyramid(std::span(kPyramid).first(1)));
  for (Resampling const method : kMethods) {
    HostArray const by_size =
        read(*opened, {.window = Window{20, 10, 80, 60}, .target_size = TargetSize{32, 24}, .resampling = method});
    HostArray const by_grid =
        read(*opened, {.target_grid = TargetGrid{20, 10, 2.5, 2.5, 0, 0, 32, 24}, .resampling = method});
    EXPECT_EQ(values_of<std::uint16_t>(by_size), values_of<std::uint16_t>(by_grid)) << to_string(method);
  }
}

TEST(ResampleToGrid, HasThePixelsOfTheWholeGridInEveryPart) {
  Opened const opened(pyramid());
  TargetGrid const grid{-0.6, 0.3, 1.37, 3.1, 0, 0, 87, 28};
  for (Resampling const method : kMethods) {
    std::vector<std::uint16_t> const whole =
        values_of<std::uint16_t>(read(*opened, {.target_grid = grid, .resampling = method}));
    TargetGrid part = grid;
    part.first_column = 13;
    part.first_row = 9;
    part.width = 40;
    part.height = 11;
    std::vector<std::uint16_t> const values =
        values_of<std::uint16_t>(read(*opened, {.target_grid = part, .resampling = method}));
    for (std::uint32_t row = 0; row < part.height; ++row) {
      for (std::uint32_t column = 0; column < part.width; ++column) {
        ASSERT_EQ(values[row * part.width + column], whole[(row + 9) * grid.width + column + 13]) << to_string(method);
      }
    }
  }
}

TEST(ResampleToGrid, TakesThePixelUnderTheMiddle) {
  Opened const opened(pyramid(std::span(kPyramid).first(1)));
  TargetGrid const grid{-0.4, 10.6, 0.9, 1.5, 0, 2, 20, 8};
  std::vector<std::uint16_t> const values = values_of<std::uint16_t>(read(*opened, {.target_grid = grid}));
  for (std::uint32_t r = 0; r < grid.height; ++r) {
    for (std::uint32_t c = 0; c < grid.width; ++c) {
      auto const row = static_cast<std::uint32_t>(10.6 + (r + 2.5) * 1.5);
      auto const column = static_cast<std::uint32_t>(-0.4 + (c + 0.5) * 0.9);
      ASSERT_EQ(values[r * grid.width + c], (value_at<std::uint16_t>(0, row, column))) << r << ' ' << c;
    }
  }
}

TEST(ResampleToGrid, AveragesThePartOfAnEdgePixelThatTheRasterHas) {
  testing::TiffBuilder builder;
  add_image<float>(builder, {.width = 8, .height = 1},
                   [](std::uint32_t, std::uint32_t, std::uint32_t c) { return static_cast<float>(c); });
  Opened const opened(builder);
  // Pixels of 4 columns from -1.5 on: columns 0 to 2.5, 2.5 to 6.5, and 6.5 to 8.
  TargetGrid const grid{-1.5, 0, 4, 1, 0, 0, 2, 1};
  std::vector<float> const values =
      values_of<float>(read(*opened, {.target_grid = grid, .resampling = Resampling::average}));
  EXPECT_FLOAT_EQ(values[0], (0 + 1 + 2 * 0.5F) / 2.5F);
  EXPECT_FLOAT_EQ(values[1], (2 * 0.5F + 3 + 4 + 5 + 6 * 0.5F) / 4);
}

TEST(ResampleToGrid, RefusesGridsThatReachOutOrAreNone) {
  Opened const opened(pyramid());
  double const nan = std::nan("");
  TargetGrid const refused[] = {{-0.51, 0, 1, 1, 0, 0, 4, 4}, {0, -2.1, 4, 4, 0, 0, 4, 4},
                                {0, 0, 1, 1, 0, 0, 121, 4},   {0, 87.6, 1, 1, 0, 0, 4, 3},
                                {0, 0, 0, 1, 0, 0, 4, 4},     {0, 0, 1, -1, 0, 0, 4, 4},
                                {nan, 0, 1, 1, 0, 0, 4, 4},   {0, 0, nan, 1, 0, 0, 4, 4},
                                {0, 0, 1, 1, 0, 0, 0, 4},     {0, 0, 1e-9, 1, UINT32_MAX, 0, 4, 4}};
  for (TargetGrid const& grid : refused) {
    EXPECT_EQ(testing::kind_of_failure([&] { return read(*opened, {.target_grid = grid}); }), ErrorKind::usage);
  }
  TargetGrid const good{0, 0, 2, 2, 0, 0, 60, 45};
  EXPECT_EQ(testing::kind_of_failure([&] {
              return read(*opened, {.window = Window{0, 0, 9, 9}, .target_grid = good});
            }),
            ErrorKind::usage);
  EXPECT_EQ(testing::kind_of_failure([&] { return read(*opened, {.level = 1, .target_grid = good}); }),
            ErrorKind::usage);
  EXPECT_EQ(testing::kind_of_failure([&] { return read(*opened, {.target_grid = good}); }), std::nullopt);
}

}  // namespace
}  // namespace terrazzo::reading
