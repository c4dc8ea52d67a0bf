// SPDX-License-Identifier: Apache-2.0
#include "geo/number.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace terrazzo::geo {
namespace {

TEST(Number, ReadsTheLeadingNumberAndStopsAtTheRest) {
  EXPECT_EQ(leading_number("2.5abc"), 2.5);
  EXPECT_EQ(leading_number("  \n-7e2 "), -700.0);
  EXPECT_EQ(leading_number("+3"), 3.0);
  EXPECT_EQ(leading_number("1,5", ','), 1.5);
}

TEST(Number, SaysWhenThereIsNone) {
  EXPECT_FALSE(leading_number(""));
  EXPECT_FALSE(leading_number("abc"));
  EXPECT_FALSE(leading_number("--1"));
  EXPECT_EQ(number_or_zero("abc"), 0.0);
}

TEST(Number, KnowsTheSpellingsOfNanAndInfinity) {
  for (auto const* text : {"nan", "NaN", "-nan", "1.#QNAN", "-1.#IND"}) {
    EXPECT_TRUE(std::isnan(number_or_zero(text))) << text;
  }
  for (auto const* text : {"inf", "Infinity", "1.#INF", "+inf", "1e400"}) {
    EXPECT_EQ(number_or_zero(text), std::numeric_limits<double>::infinity()) << text;
  }
  EXPECT_EQ(number_or_zero("-1e400"), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(number_or_zero("1e-400"), 0.0);
}

TEST(Number, TakesACommaAsTheDecimalPointWhenItComesFirst) {
  EXPECT_EQ(number_with_any_point("1,5"), 1.5);
  EXPECT_EQ(number_with_any_point("1.5,7"), 1.5);
  EXPECT_EQ(number_with_any_point("12"), 12.0);
}

TEST(Number, ClampsIntegersThatDoNotFit) {
  EXPECT_EQ(integer_or_zero(" 42x"), 42);
  EXPECT_EQ(integer_or_zero("99999999999"), std::numeric_limits<int>::max());
  EXPECT_EQ(integer_or_zero("-99999999999"), std::numeric_limits<int>::min());
  EXPECT_EQ(integer_or_zero("x"), 0);
}

TEST(Number, FormatsAsPrintfDoesInTheCLocale) {
  EXPECT_EQ(format_significant(72, 8), "72");
  EXPECT_EQ(format_significant(0.1, 15), "0.1");
  EXPECT_EQ(format_significant(1.0 / 3, 8), "0.33333333");
  EXPECT_EQ(format_significant(1e20, 8), "1e+20");
  EXPECT_EQ(format_exact(298.257223563), "298.257223563");
}

}  // namespace
}  // namespace terrazzo::geo
