// SPDX-License-Identifier: Apache-2.0
#include "read/plan/value_transforms.hpp"

#include "read/images.hpp"
#include "support/failure.hpp"
#include "terrazzo/write.hpp"
#include "tile/convert_sample.hpp"

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

TEST(MayBecome, KnowsThatFloatsAreRoundedAndClampedToIntegers) {
  tile::ValueTransform plain;
  plain.mask_nodata = true;
  auto const may = [&](double nodata, DType stored, DType result) {
    plain.nodata = nodata;
    return may_become(plain, stored, make_nodata(std::to_string(static_cast<std::int64_t>(nodata)), result), result);
  };
  for (DType const stored : {DType::f16, DType::f32, DType::f64}) {
    EXPECT_TRUE(may(0, stored, DType::u8)) << "0.3, and -7";
    EXPECT_TRUE(may(7, stored, DType::u8)) << "7.3";
    EXPECT_TRUE(may(-128, stored, DType::i8)) << "-200";
    EXPECT_FALSE(may(0, stored, stored));
  }
  EXPECT_FALSE(may(3'000'000, DType::f32, DType::i32)) << "all that is rounded to it is taken for nodata";
  EXPECT_TRUE(may(1000, DType::f32, DType::f16)) << "1000.1";
  EXPECT_FALSE(may(1000, DType::f32, DType::f64));
}

TEST(MayBecome, IsWhatTryingEveryHalfSays) {
  for (int const nodata : {-128, -5, 0, 3, 127}) {
    for (int marker = -128; marker <= 127; ++marker) {
      tile::ValueTransform t;
      t.mask_nodata = true;
      t.nodata = nodata;
      bool tried = false;
      for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
        tile::Half const half{static_cast<std::uint16_t>(bits)};
        tried = tried || (!tile::is_missing(half, t) && tile::convert_value<std::int8_t>(half) == marker);
      }
      ASSERT_EQ(may_become(t, DType::f16, make_nodata(std::to_string(marker), DType::i8), DType::i8), tried)
          << nodata << ' ' << marker;
    }
  }
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
  for (tile::ValueTransform const& t : kept.impl().transforms) { EXPECT_EQ(t.missing.value, -32768); }
  EXPECT_TRUE(kept.impl().transforms[0].rescale);
  EXPECT_TRUE(kept.impl().transforms[0].mask_nodata);
  EXPECT_TRUE(kept.impl().transforms[1].is_identity()) << "-32768 is converted to the marker like any other value";
  EXPECT_FALSE(plan(*opened, {.bands = {1}, .unpack = true, .dtype = DType::u8}).impl().missing) << "no uint8";
  Opened const other(scaled_bands("-1000"));
  EXPECT_FALSE(plan(*other, {.unpack = true}).impl().missing) << "a tenth of -10000";
}

TEST(ChooseTransforms, LooksAtNodataOfUnscaledBandsWhoseTypeChanges) {
  Opened const opened(image<std::int64_t>({.width = 3, .height = 1}).ascii(42113, "9223372036854775807"));
  ReadPlan const rounded = plan(*opened, {.unpack = true});
  EXPECT_FALSE(rounded.impl().missing) << "2^63 - 2 is rounded to it";
  EXPECT_TRUE(rounded.impl().transforms[0].mask_nodata) << "it becomes NaN";
  EXPECT_TRUE(plan(*opened, {.unpack = true, .dtype = DType::i64}).impl().transforms[0].is_identity());
  Opened const small(image<std::int16_t>({.width = 3, .height = 1}).ascii(42113, "0"));
  EXPECT_EQ(plan(*small, {.unpack = true}).impl().missing->value, 0);
  EXPECT_FALSE(plan(*small, {.unpack = true, .dtype = DType::u8}).impl().missing) << "-5 is clamped to it";
}

TEST(ClampsTo, KnowsTheEndsOfTheResult) {
  Opened const opened(scaled_bands("-32768"));
  auto const clamps = [&](DType dtype, char const* marker, std::uint32_t band, bool unpack) {
    ReadRequest const request{.bands = {band}, .unpack = unpack, .dtype = dtype};
    return clamps_to(plan(*opened, request).impl(), make_nodata(marker, dtype), request);
  };
  EXPECT_TRUE(clamps(DType::u8, "255", 1, true));
  EXPECT_TRUE(clamps(DType::u8, "0", 2, true));
  EXPECT_FALSE(clamps(DType::u8, "7", 1, true)) << "no end";
  EXPECT_FALSE(clamps(DType::i16, "-32768", 2, true));
  EXPECT_TRUE(clamps(DType::u16, "0", 1, true));
  EXPECT_FALSE(clamps(DType::u16, "65535", 2, true)) << "int16 ends before it";
  EXPECT_FALSE(clamps(DType::f32, "255", 1, true));
}

TEST(ClampsTo, KnowsTheEndsOfTheScale) {
  Opened const opened(scaled_bands("-32768"));
  auto const clamps = [&](DType dtype, char const* marker, LinearScale const& scale) {
    ReadRequest const request{.bands = {1}, .scale = scale, .dtype = dtype};
    return clamps_to(plan(*opened, request).impl(), make_nodata(marker, dtype), request);
  };
  EXPECT_TRUE(clamps(DType::f32, "10", {0, 100, 10, 20})) << "values below 0 become 10";
  EXPECT_TRUE(clamps(DType::u8, "20", {0, 100, 10, 20}));
  EXPECT_TRUE(clamps(DType::u8, "10", {0, 100, 20, 10})) << "values above 100";
  EXPECT_FALSE(clamps(DType::u8, "15", {0, 100, 10, 20})) << "no end";
  EXPECT_FALSE(clamps(DType::u8, "0", {0, 100, 10, 20})) << "out of reach";
  EXPECT_FALSE(clamps(DType::f32, "10", {-32768, 32767, 10, 20})) << "the range of int16";
}

TEST(ChooseTransforms, ScalesValuesAndKeepsNodata) {
  Opened const opened(image<std::int16_t>({.width = 3, .height = 1}).ascii(42113, "-9999"));
  ReadPlan const scaled = plan(*opened, {.scale = LinearScale{0, 100, 200, 100}, .dtype = DType::u8});
  tile::ValueTransform const& t = scaled.impl().transforms[0];
  EXPECT_EQ(scaled.dtype(), DType::u8);
  EXPECT_EQ(t.rescaled(0), 200);
  EXPECT_EQ(t.rescaled(100), 100);
  EXPECT_EQ(t.rescaled(-50), 200) << "clamped";
  EXPECT_EQ(t.rescaled(1e6), 100);
  EXPECT_TRUE(std::isnan(t.rescaled(NAN)));
  EXPECT_EQ(tile::transformed_value<std::uint8_t>(std::int16_t{-9999}, t), 0) << "nodata, clamped to the type";
  EXPECT_EQ(plan(*opened, {.scale = LinearScale{0, 1, 0, 2}}).dtype(), DType::i16) << "the type stays";
  for (LinearScale const& bad : {LinearScale{1, 1, 0, 1}, LinearScale{0, NAN, 0, 1}, LinearScale{0, INFINITY, 0, 1},
                                 LinearScale{0, 1, 0, INFINITY}, LinearScale{0, 1e-300, 0, 1e300}}) {
    EXPECT_EQ(testing::kind_of_failure([&] { return plan(*opened, {.scale = bad}); }), ErrorKind::usage);
  }
  ReadRequest const both{.unpack = true, .scale = LinearScale{}};
  EXPECT_EQ(testing::kind_of_failure([&] { return plan(*opened, both); }), ErrorKind::usage);
}

TEST(ChooseTransforms, ReplacesNodataOfAMereConversion) {
  Opened const opened(image<float>({.width = 3, .height = 1}).ascii(42113, "-9999"));
  auto const chosen = [&](DType dtype, char const* marker) {
    return plan(*opened, {.missing = make_nodata(marker, dtype), .dtype = dtype}).impl().transforms[0];
  };
  EXPECT_EQ(tile::transformed_value<std::uint8_t>(-9999.f, chosen(DType::u8, "7")), 7);
  EXPECT_EQ(tile::transformed_value<std::uint8_t>(NAN, chosen(DType::u8, "7")), 7) << "as missing as nodata";
  EXPECT_TRUE(chosen(DType::f64, "-9999").is_identity()) << "NaN stays NaN";
  EXPECT_EQ(tile::transformed_value<double>(-9999.f, chosen(DType::f64, "5")), 5);
}

TEST(NearestNodata, IsRoundedAndClampedAsAPixel) {
  struct Case {
    char const* nodata;
    DType stored, result;
    char const* wanted;
  };
  for (Case const& c : {Case{"-3.4028234663852886e+38", DType::f32, DType::i16, "-32768"},
                        {"-9999.5", DType::f32, DType::i16, "-10000"},
                        {"nan", DType::f32, DType::u8, "0"},
                        {"1e10", DType::f64, DType::u8, "255"},
                        {"70000", DType::i32, DType::u16, "65535"},
                        {"-1", DType::i16, DType::u64, "0"},
                        {"9223372036854775807", DType::i64, DType::u64, "9223372036854775807"},
                        {"18446744073709551615", DType::u64, DType::i64, "9223372036854775807"},
                        {"-1.7976931348623157e308", DType::f64, DType::f32, "-3.4028234663852886e+38"},
                        {"1e30", DType::f32, DType::f16, "65504"},
                        {"inf", DType::f64, DType::f32, "inf"},
                        {"-9999", DType::f32, DType::f64, "-9999"}}) {
    SCOPED_TRACE(c.nodata);
    Nodata const found = nearest_nodata(make_nodata(c.nodata, c.stored), c.stored, c.result);
    Nodata const wanted = make_nodata(c.wanted, c.result);
    EXPECT_EQ(found.value, wanted.value);
    EXPECT_EQ(found.exact_i64, wanted.exact_i64);
    EXPECT_EQ(found.exact_u64, wanted.exact_u64);
  }
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
