// SPDX-License-Identifier: Apache-2.0
#include "geo/crs/wkt.hpp"

#include <gtest/gtest.h>

#include <string>

namespace terrazzo::geo {
namespace {

TEST(Wkt, BecomesATree) {
  auto const wkt = parse_wkt(R"(GEOGCS["a ""b""", DATUM["d",SPHEROID["s",6378137,298.25]],AXIS["x",EAST],)"
                             R"(AUTHORITY["EPSG","4326"]])");
  ASSERT_TRUE(wkt);
  EXPECT_EQ(wkt->keyword, "GEOGCS");
  EXPECT_EQ(wkt->name(), "a \"b\"");
  EXPECT_EQ(wkt->epsg(), 4326);
  ASSERT_NE(wkt->child("datum"), nullptr);
  EXPECT_EQ(wkt->child("DATUM")->epsg(), 0);
  EXPECT_EQ(wkt->child("DATUM")->child("SPHEROID")->number(1), 6378137);
  EXPECT_EQ(wkt->child("DATUM")->child("SPHEROID")->number(3), std::nullopt);
  EXPECT_EQ(wkt->child("EAST"), nullptr);
  EXPECT_EQ(wkt->child("AXIS")->children.at(1).keyword, "EAST");
}

TEST(Wkt, TakesRoundBracketsToo) {
  auto const wkt = parse_wkt("UNIT(\"metre\" , 1)");
  ASSERT_TRUE(wkt);
  EXPECT_EQ(wkt->number(1), 1);
}

TEST(Wkt, RefusesWhatDoesNotMatch) {
  for (auto const* text : {"", "A[", "A[]", "A[1", "A[1)", "A[\"x]", "A[1]]", "A[1] B", "[1]", "A[,1]", "A[1,]"}) {
    EXPECT_FALSE(parse_wkt(text)) << text;
  }
}

TEST(Wkt, RefusesDeepNesting) {
  auto const nested = [](int depth) {
    std::string text;
    for (int i = 0; i < depth; ++i) { text += "A["; }
    return text + "1" + std::string(static_cast<std::size_t>(depth), ']');
  };
  EXPECT_TRUE(parse_wkt(nested(32)));
  EXPECT_FALSE(parse_wkt(nested(33)));
  EXPECT_FALSE(parse_wkt(nested(100'000)));
}

TEST(Wkt, LosesItsAxes) {
  EXPECT_EQ(wkt_without_axes("P[\"x\",AXIS[\"a\",EAST],AXIS[\"b\",NORTH],UNIT[\"m\",1]]"), "P[\"x\",UNIT[\"m\",1]]");
}

}  // namespace
}  // namespace terrazzo::geo
