// SPDX-License-Identifier: Apache-2.0
#include "geo/metadata/utf8.hpp"

#include <gtest/gtest.h>

namespace terrazzo::geo {
namespace {

TEST(Utf8, AcceptsWellFormedText) {
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8("plain"));
  EXPECT_TRUE(is_utf8("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"));  // 2, 3 and 4 bytes
}

TEST(Utf8, RefusesWhatOnlyLooksLikeIt) {
  EXPECT_FALSE(is_utf8("\xe9"));              // Latin-1 e acute
  EXPECT_FALSE(is_utf8("\xc3"));              // cut short
  EXPECT_FALSE(is_utf8("\xc0\x80"));          // overlong NUL
  EXPECT_FALSE(is_utf8("\xe0\x80\x80"));      // overlong
  EXPECT_FALSE(is_utf8("\xed\xa0\x80"));      // surrogate
  EXPECT_FALSE(is_utf8("\xf4\x90\x80\x80"));  // past U+10FFFF
  EXPECT_FALSE(is_utf8("\xc3("));             // no continuation
}

TEST(Utf8, TakesOtherBytesForLatin1) {
  EXPECT_EQ(to_utf8("caf\xe9"), "caf\xc3\xa9");
  EXPECT_EQ(to_utf8("caf\xc3\xa9"), "caf\xc3\xa9");
}

}  // namespace
}  // namespace terrazzo::geo
