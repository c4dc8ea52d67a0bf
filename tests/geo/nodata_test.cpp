// SPDX-License-Identifier: Apache-2.0
#include "geo/nodata.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace terrazzo::geo {
namespace {

TEST(Nodata, ReadsNumbersAndKeepsTheirText) {
  auto const nodata = parse_nodata("-9999 ", DType::i16);
  ASSERT_TRUE(nodata);
  EXPECT_EQ(nodata->value, -9999);
  EXPECT_EQ(nodata->text, "-9999 ");
  EXPECT_TRUE(nodata->representable);
  EXPECT_FALSE(parse_nodata("", DType::i16));
}

TEST(Nodata, OfPamIsTheBitsOrTheTextAsItStands) {
  EXPECT_FALSE(parse_pam_nodata("", 7.0, DType::u8));
  EXPECT_EQ(parse_pam_nodata("8", 7.0, DType::u8)->value, 7);
  EXPECT_EQ(parse_pam_nodata("8", {}, DType::u8)->value, 8);
  EXPECT_EQ(parse_pam_nodata("1,5", {}, DType::f32)->value, 1);  // the tag's comma would be a point
  EXPECT_FALSE(parse_pam_nodata("300", {}, DType::u8)->representable);
  EXPECT_EQ(parse_pam_nodata("9223372036854775807", {}, DType::i64)->exact_i64,
            std::numeric_limits<std::int64_t>::max());
  EXPECT_FALSE(parse_pam_nodata("7", 7.0, DType::i64)->representable);
}

TEST(Nodata, IsZeroWhenTheTextIsNoNumber) { EXPECT_EQ(parse_nodata("none", DType::u8)->value, 0); }

TEST(Nodata, MayBeNan) {
  auto const in_float = parse_nodata("nan", DType::f32);
  EXPECT_TRUE(std::isnan(in_float->value));
  EXPECT_TRUE(in_float->representable);
  EXPECT_FALSE(parse_nodata("nan", DType::u8)->representable);
}

TEST(Nodata, TellsWhenNoPixelCanHaveIt) {
  EXPECT_FALSE(parse_nodata("-9999", DType::u8)->representable);
  EXPECT_FALSE(parse_nodata("256", DType::u8)->representable);
  EXPECT_TRUE(parse_nodata("255", DType::u8)->representable);
  EXPECT_FALSE(parse_nodata("1.5", DType::i32)->representable);
  EXPECT_TRUE(parse_nodata("-128", DType::i8)->representable);
  EXPECT_FALSE(parse_nodata("70000", DType::f16)->representable);
  EXPECT_FALSE(parse_nodata("4294967296", DType::u32)->representable);
  EXPECT_TRUE(parse_nodata("4294967295", DType::u32)->representable);
}

TEST(Nodata, RoundsToFloatAsThePixelsAre) {
  EXPECT_EQ(parse_nodata("0.1", DType::f32)->value, static_cast<double>(0.1F));
  EXPECT_EQ(parse_nodata("0.1", DType::f64)->value, 0.1);
  constexpr double kMax = std::numeric_limits<float>::max();
  EXPECT_EQ(parse_nodata("-3.40282346638529e+38", DType::f32)->value, -kMax);
  EXPECT_EQ(parse_nodata("3.4028234663852886e+38", DType::f32)->value, kMax);
  EXPECT_EQ(parse_nodata("1e300", DType::f32)->value, std::numeric_limits<double>::infinity());
}

TEST(Nodata, KeepsIntegersOf64BitsExactly) {
  auto const low = parse_nodata("-9223372036854775808", DType::i64);
  EXPECT_EQ(low->exact_i64, std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(parse_nodata("9223372036854775807", DType::i64)->exact_i64, std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(parse_nodata("18446744073709551615", DType::u64)->exact_u64, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(parse_nodata("99999999999999999999", DType::u64)->exact_u64, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(parse_nodata("-1", DType::u64)->exact_u64, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(parse_nodata("-5.7", DType::i64)->exact_i64, -5);
  EXPECT_FALSE(parse_nodata("5", DType::i32)->exact_i64);
}

// NumPy spells the lowest float so; the nearest double lies beyond it.
TEST(Nodata, RoundsTheShortestSpellingOfTheLargestFloat) {
  constexpr double kMax = std::numeric_limits<float>::max();
  EXPECT_EQ(parse_nodata("-3.4028235e+38", DType::f32)->value, -kMax);
  EXPECT_EQ(parse_nodata("3.4028235e+38", DType::f32)->value, kMax);
  EXPECT_EQ(parse_nodata("3.4028235677973e+38", DType::f32)->value, kMax);
  EXPECT_EQ(parse_nodata("3.4028235677974e+38", DType::f32)->value, std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace terrazzo::geo
