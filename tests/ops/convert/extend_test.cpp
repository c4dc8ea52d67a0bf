// SPDX-License-Identifier: Apache-2.0
#include "support/failure.hpp"
#include "support/raster.hpp"

#include "terrazzo/convert.hpp"
#include "terrazzo/source.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

namespace terrazzo {
namespace {

using testing::kind_of_failure;
using testing::Raster;

constexpr std::uint32_t kWidth = 40, kHeight = 30;

// Pixels of 10 units, the corner at (1000, 5000).
Raster make_raster(char const* nodata = nullptr) {
  std::vector<std::uint16_t> samples(std::size_t{kWidth} * kHeight);
  std::iota(samples.begin(), samples.end(), std::uint16_t{1});
  auto builder = testing::raster_builder<std::uint16_t>(kWidth, kHeight, samples, 8);
  builder.raw(33550, 12, 3, testing::as_bytes(std::vector<double>{10, 10, 0}));
  builder.raw(33922, 12, 6, testing::as_bytes(std::vector<double>{0, 0, 0, 1000, 5000, 0}));
  if (nodata != nullptr) { testing::text_tag(builder, 42113, nodata); }
  return Raster(builder);
}

ConvertSetup extended(Dataset const& source, GridWindow const& area) {
  ReadRequest const read{.window = part_inside(source.info(), area)};
  ConvertSetup setup{.write = conversion_options(source, read), .read = read};
  extend_to(setup, area);
  return setup;
}

Dataset converted(Dataset const& source, ConvertSetup const& setup) {
  std::vector<std::byte> bytes;
  static_cast<void>(convert(source, memory_sink(bytes), setup));
  return open(memory_source(std::move(bytes), "extended"));
}

TEST(ExtendTo, HasThePixelsOfABoundlessRead) {
  Raster const source = make_raster("65000");
  for (GridWindow const& area : {GridWindow{-5, -3, 20, 20}, GridWindow{30, 20, 30, 25}, GridWindow{-7, -9, 60, 50},
                                 GridWindow{3, -4, 5, 60}, GridWindow{3, 4, 5, 6}}) {
    Dataset const result = converted(source.dataset(), extended(source.dataset(), area));
    EXPECT_EQ(result.info().bands[0].mask, MaskKind::nodata);
    HostArray const found = read(result), wanted = read_boundless(source.dataset(), area);
    EXPECT_TRUE(std::ranges::equal(found.bytes(), wanted.bytes())) << area.column << ' ' << area.row;
    auto const& t = *result.info().georeference.transform;
    EXPECT_EQ(t[0], 1000 + 10.0 * static_cast<double>(area.column));
    EXPECT_EQ(t[3], 5000 - 10.0 * static_cast<double>(area.row));
  }
}

TEST(ExtendTo, MasksWhatIsOutsideOfARasterWithoutMissingPixels) {
  Raster const source = make_raster();
  ConvertSetup const setup = extended(source.dataset(), {-2, 0, kWidth + 3, kHeight});
  EXPECT_EQ(setup.margins, (Margins{2, 0, 1, 0}));
  Dataset const result = converted(source.dataset(), setup);
  auto const mask = read_mask(result);
  for (std::uint32_t x = 0; x < kWidth + 3; ++x) {
    bool const is_outside = x < 2 || x >= kWidth + 2;
    EXPECT_EQ(mask.bytes()[x], is_outside ? std::byte{0} : std::byte{255}) << x;
  }
  EXPECT_FALSE(extended(source.dataset(), {1, 2, 3, 4}).write.mask) << "the area is inside";
}

TEST(ExtendTo, MovesGroundControlPoints) {
  Raster const source = make_raster("0");
  ConvertSetup setup{.write = conversion_options(source.dataset()), .read = {.window = Window{0, 0, 4, 4}}};
  setup.write.georeference.transform.reset();
  setup.write.georeference.gcps = {{.column = 1, .row = 2}};
  extend_to(setup, {-10, -20, 100, 100});
  EXPECT_EQ(setup.write.georeference.gcps[0].column, 11);
  EXPECT_EQ(setup.write.georeference.gcps[0].row, 22);
}

TEST(ExtendTo, RefusesAWindowOutsideTheAreaAndTargets) {
  Raster const source = make_raster("0");
  ConvertSetup const inside{.write = conversion_options(source.dataset()), .read = {.window = Window{5, 5, 10, 10}}};
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  for (GridWindow const& area : {GridWindow{6, 5, 10, 10}, GridWindow{5, 5, 9, 10}, GridWindow{kLeast, 5, 10, 10},
                                 GridWindow{5, kMost, 10, 10}, GridWindow{-10, 5, 24, 10}}) {
    ConvertSetup setup = inside;
    EXPECT_EQ(kind_of_failure([&] { extend_to(setup, area); }), ErrorKind::usage) << area.column << ' ' << area.row;
  }
  ConvertSetup target = inside, whole = inside;
  target.read.target_size = TargetSize{5, 5};
  whole.read.window.reset();
  EXPECT_EQ(kind_of_failure([&] { extend_to(target, {0, 0, 40, 40}); }), ErrorKind::usage);
  EXPECT_EQ(kind_of_failure([&] { extend_to(whole, {0, 0, 40, 40}); }), ErrorKind::usage);
}

}  // namespace
}  // namespace terrazzo
