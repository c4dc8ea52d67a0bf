// SPDX-License-Identifier: Apache-2.0
#include "geo/encode.hpp"
#include "geo/metadata/pam.hpp"
#include "geo/written_tags.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace terrazzo::geo {
namespace {

TEST(EncodePam, IsEmptyWhenTagsSayAll) {
  std::vector<BandInfo> bands(2);
  bands[0].color_table = {{1, 2, 3, 255}};
  bands[0].unit = "m";
  EXPECT_EQ(encode_pam(bands), "");
}

TEST(EncodePam, KeepsCategoryNames) {
  std::vector<BandInfo> bands(2);
  bands[1].category_names = {"water", "", "<forest> & \"trees\"", "Höhe"};
  auto const pam = parse_pam(encode_pam(bands), {DType::u8, DType::u8});
  EXPECT_TRUE(pam.bands.at(0).category_names.empty());
  EXPECT_EQ(pam.bands.at(1).category_names, bands[1].category_names);
}

TEST(EncodePam, KeepsColoursThatTheTagCannotHold) {
  std::vector<BandInfo> bands(2);
  bands[0].color_table = {{1, 2, 3, 255}, {4, 5, 6, 0}};
  bands[1].color_table = {{7, 8, 9, 255}};
  auto const pam = parse_pam(encode_pam(bands), {DType::u8, DType::u8});
  ASSERT_EQ(pam.bands.at(0).color_table.size(), 2U);
  EXPECT_EQ(pam.bands[0].color_table[1].green, 5);
  EXPECT_EQ(pam.bands[0].color_table[1].alpha, 0);
  ASSERT_EQ(pam.bands.at(1).color_table.size(), 1U);
  EXPECT_EQ(pam.bands[1].color_table[0].blue, 9);
}

TEST(EncodePam, LeavesTheTransparencyOfNodataToReaders) {
  std::vector<BandInfo> bands(1);
  bands[0].color_table = {{1, 2, 3, 255}, {4, 5, 6, 0}};
  bands[0].nodata = Nodata{.value = 1};
  EXPECT_EQ(encode_pam(bands), "");
  bands[0].nodata = Nodata{.value = 0};
  EXPECT_NE(encode_pam(bands), "");
}

TEST(EncodePam, KeepsTheCrsThatKeysCannotHold) {
  std::string const wkt = "PROJCRS[\"a & <b>\",BASEGEOGCRS[\"x\"]]";
  EXPECT_EQ(parse_pam(encode_pam({}, wkt), {}).srs, wkt);
}

}  // namespace
}  // namespace terrazzo::geo
