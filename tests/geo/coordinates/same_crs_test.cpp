// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/coordinates.hpp"

#include <gtest/gtest.h>

#include <string>

namespace terrazzo {
namespace {

Info with_crs(std::string const& text) {
  Info info;
  info.georeference.crs = Crs::from(text);
  return info;
}

TEST(SameCrs, ComparesCodes) {
  EXPECT_TRUE(same_crs(with_crs("EPSG:32632"), with_crs("EPSG:32632")));
  EXPECT_FALSE(same_crs(with_crs("EPSG:32632"), with_crs("EPSG:32633")));
}

TEST(SameCrs, ComparesDefinitionsByTheirMeaning) {
  Info const code = with_crs("EPSG:32632");
  Info text = code;
  text.georeference.crs->epsg.reset();
  text.georeference.crs->horizontal_epsg.reset();
  if (text.georeference.crs->wkt.empty()) { GTEST_SKIP() << "needs PROJ"; }
  EXPECT_TRUE(same_crs(code, text));
  EXPECT_TRUE(same_crs(text, code));
  EXPECT_FALSE(same_crs(with_crs("EPSG:4326"), text));
}

TEST(SameCrs, IgnoresHeights) { EXPECT_TRUE(same_crs(with_crs("EPSG:25832"), with_crs("EPSG:25832+5783"))); }

TEST(SameCrs, ARasterWithoutACrsIsLikeOthersWithout) {
  EXPECT_TRUE(same_crs(Info{}, Info{}));
  EXPECT_FALSE(same_crs(Info{}, with_crs("EPSG:32632")));
}

TEST(SameCrs, ComparesFieldsOfDefinitionsThatProjDoesNotUnderstand) {
  Info odd;
  odd.georeference.crs.emplace();
  odd.georeference.crs->name = "a local grid";
  Info other = odd;
  EXPECT_TRUE(same_crs(odd, other));
  other.georeference.crs->name = "another grid";
  EXPECT_FALSE(same_crs(odd, other));
}

}  // namespace
}  // namespace terrazzo
