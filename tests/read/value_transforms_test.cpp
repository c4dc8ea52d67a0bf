// SPDX-License-Identifier: Apache-2.0
#include "read/value_transforms.hpp"

#include "read/images.hpp"
#include "terrazzo/write.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace terrazzo::reading {
namespace {

tile::ValueTransform scaled(double scale, double offset, std::optional<double> nodata = std::nullopt) {
  tile::ValueTransform t;
  t.rescale = true;
  t.scale = scale;
  t.offset = offset;
  t.mask_nodata = nodata.has_value();
  t.nodata = nodata.value_or(0);
  return t;
}

TEST(MayBecome, IsWhatTryingEveryValueSays) {
  auto const tried = [](tile::ValueTransform const& t, double marker) {
    for (int stored = -128; stored <= 127; ++stored) {
      if (t.mask_nodata && stored == t.nodata) { continue; }
      if (std::round(stored * t.scale + t.offset) == marker) { return true; }
    }
    return false;
  };
  for (double const scale : {1.0, 0.5, 3.0, -1.0, -2.5, 0.0}) {
    for (double const offset : {0.0, 7.0, -300.0}) {
      for (int const nodata : {-128, -5, 0, 127}) {
        for (int marker = -700; marker <= 700; marker += 7) {
          tile::ValueTransform const t = scaled(scale, offset, nodata);
          ASSERT_EQ(may_become(t, DType::i8, make_nodata(std::to_string(marker), DType::i32), DType::i32),
                    tried(t, marker))
              << scale << ' ' << offset << ' ' << nodata << ' ' << marker;
        }
      }
    }
  }
}

TEST(MayBecome, KnowsTheEndsOfTypes) {
  auto const in = [](std::string const& text, DType dtype) { return make_nodata(text, dtype); };
  EXPECT_FALSE(may_become(scaled(0.1, 0, -32768), DType::i16, in("-32768", DType::f64), DType::f64));
  EXPECT_TRUE(may_become(scaled(10, 0, -32768), DType::i16, in("-32768", DType::i16), DType::i16)) << "clamped";
  EXPECT_TRUE(may_become(scaled(0.001, 0), DType::i16, in("0", DType::f64), DType::f64));
  EXPECT_FALSE(may_become(scaled(0.001, 0, 0), DType::i16, in("0", DType::f64), DType::f64)) << "but the missing";
  tile::ValueTransform wide;
  wide.mask_nodata = true;
  wide.nodata_u64 = std::numeric_limits<std::uint64_t>::max();
  wide.nodata = static_cast<double>(*wide.nodata_u64);
  EXPECT_FALSE(may_become(wide, DType::u64, in("18446744073709551615", DType::u64), DType::u64));
  EXPECT_TRUE(may_become(wide, DType::u64, in("18446744073709551615", DType::f64), DType::f64)) << "doubles are coarse";
  EXPECT_TRUE(may_become(wide, DType::u64, in("18446744073709551614", DType::u64), DType::u64));
}

// As masks compare floats: within a few units of the last place of float32.
TEST(MayBecome, TakesFloatsNextToTheMarkerForIt) {
  EXPECT_TRUE(may_become(scaled(1, 1e-5), DType::i32, make_nodata("1000000", DType::f64), DType::f64));
  EXPECT_FALSE(may_become(scaled(1, 0.5), DType::i32, make_nodata("1000000", DType::f64), DType::f64));
}

TEST(MayBecome, TrustsNoScaledFloats) {
  EXPECT_TRUE(may_become(scaled(2, 0, -9999), DType::f32, make_nodata("-9999", DType::f32), DType::f32));
  EXPECT_FALSE(may_become(scaled(2, 0, -9999), DType::f32, make_nodata("nan", DType::f32), DType::f32));
  tile::ValueTransform plain = scaled(1, 0, -9999);
  plain.rescale = false;
  EXPECT_FALSE(may_become(plain, DType::f32, make_nodata("-9999", DType::f32), DType::f32));
  EXPECT_TRUE(may_become(scaled(INFINITY, 0), DType::u8, make_nodata("5", DType::f32), DType::f32));
}

testing::TiffBuilder scaled_bands(std::string const& nodata) {
  testing::TiffBuilder builder = image<std::int16_t>({.width = 3, .height = 1, .bands = 2});
  builder.ascii(42112, "<GDALMetadata><Item name='SCALE' sample='0' role='scale'>0.1</Item></GDALMetadata>");
  builder.ascii(42113, nodata);
  return builder;
}

TEST(ChooseTransforms, KeepsNodataThatIsNoOtherPixelOfAnyBand) {
  Opened const opened(scaled_bands("-32768"));
  ReadPlan const kept = plan(*opened, {.unpack = true});
  ASSERT_TRUE(kept.impl().missing);
  EXPECT_EQ(kept.impl().missing->value, -32768);
  for (tile::ValueTransform const& t : kept.impl().transforms) {
    EXPECT_TRUE(t.mask_nodata);
    EXPECT_EQ(t.missing.value, -32768);
  }
  EXPECT_TRUE(kept.impl().transforms[0].rescale);
  EXPECT_FALSE(kept.impl().transforms[1].rescale);
  EXPECT_FALSE(plan(*opened, {.bands = {1}, .unpack = true, .dtype = DType::u8}).impl().missing) << "no uint8";
  Opened const other(scaled_bands("-1000"));
  EXPECT_FALSE(plan(*other, {.unpack = true}).impl().missing) << "a tenth of -10000";
}

TEST(ChooseTransforms, LooksAtNodataOnlyWhereValuesChange) {
  Opened const opened(scaled_bands("-32768"));
  EXPECT_TRUE(plan(*opened).impl().transforms[0].is_identity());
  ReadRequest request{.bands = {2}, .unpack = true};
  EXPECT_TRUE(plan(*opened, request).impl().transforms[0].is_identity()) << "this band has no scale";
  request.missing = make_nodata("5", DType::f64);
  EXPECT_TRUE(plan(*opened, request).impl().transforms[0].mask_nodata);
  request = {.bands = {2}, .masked = true, .missing = make_nodata("-32768", DType::i16), .dtype = DType::i16};
  EXPECT_TRUE(plan(*opened, request).impl().transforms[0].is_identity()) << "it is what it would become";
}

}  // namespace
}  // namespace terrazzo::reading
