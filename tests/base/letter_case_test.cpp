// SPDX-License-Identifier: Apache-2.0
#include "base/letter_case.hpp"

#include <gtest/gtest.h>

namespace terrazzo {
namespace {

TEST(LetterCase, OfAsciiIsIgnored) {
  EXPECT_EQ(lower_case("SAR_Ka"), "sar_ka");
  EXPECT_TRUE(equals_ignoring_case("Item", "ITEM"));
  EXPECT_FALSE(equals_ignoring_case("Item", "Items"));
  EXPECT_TRUE(starts_with_ignoring_case("XML:esri", "xml:"));
  EXPECT_FALSE(starts_with_ignoring_case("xm", "xml:"));
  EXPECT_TRUE(starts_with_ignoring_case("", ""));
}

TEST(LetterCase, OfOtherBytesIsTheirOwn) {
  EXPECT_EQ(lower_case("@[`{\xC3\x84Z"), "@[`{\xC3\x84z");
  EXPECT_FALSE(equals_ignoring_case("\xC3\x84", "\xC3\xA4"));
  EXPECT_FALSE(equals_ignoring_case("@", "`"));
}

}  // namespace
}  // namespace terrazzo
