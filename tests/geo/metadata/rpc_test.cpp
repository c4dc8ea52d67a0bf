// SPDX-License-Identifier: Apache-2.0
#include "geo/metadata/rpc.hpp"

#include "geo/written_tags.hpp"
#include "support/tiff_builder.hpp"
#include "tiff/format.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace terrazzo::geo {
namespace {

TEST(Rpc, NamesAndFormatsTheNinetyTwoCoefficients) {
  std::vector<double> values(92);
  std::iota(values.begin(), values.end(), 0.5);
  auto const rpc = rpc_from_tags(testing::TiffBuilder().doubles(tiff::tag::RPCCoefficients, values).directory());
  ASSERT_EQ(rpc.size(), 16U);
  EXPECT_EQ(rpc[0], (std::pair<std::string, std::string>{"ERR_BIAS", "0.5"}));
  EXPECT_EQ(rpc[11], (std::pair<std::string, std::string>{"HEIGHT_SCALE", "11.5"}));
  EXPECT_EQ(rpc[12].first, "LINE_NUM_COEFF");
  EXPECT_EQ(rpc[12].second.substr(0, 10), "12.5 13.5 ");
  EXPECT_EQ(rpc[15].first, "SAMP_DEN_COEFF");
  EXPECT_TRUE(rpc[15].second.ends_with(" 91.5"));
}

TEST(Rpc, IsIgnoredWhenTheirNumberIsWrong) {
  for (std::size_t count : {1U, 91U, 93U}) {
    std::vector<double> const values(count, 1.0);
    EXPECT_TRUE(rpc_from_tags(testing::TiffBuilder().doubles(tiff::tag::RPCCoefficients, values).directory()).empty());
  }
}

TEST(Rpc, IsWrittenAsItWasRead) {
  std::vector<double> values(92);
  std::iota(values.begin(), values.end(), -17.125);
  values[20] = 1e-13;
  auto const rpc = rpc_from_tags(testing::TiffBuilder().doubles(tiff::tag::RPCCoefficients, values).directory());
  tiff::TagSet tags;
  ASSERT_TRUE(rpc_to_tags(rpc, tags));
  EXPECT_EQ(written(tags).real_values(tiff::tag::RPCCoefficients, 100), values);
}

TEST(Rpc, DoesWithoutErrorTerms) {
  auto rpc = rpc_from_tags(
      testing::TiffBuilder().doubles(tiff::tag::RPCCoefficients, std::vector<double>(92, 2.0)).directory());
  rpc.erase(rpc.begin(), rpc.begin() + 2);
  tiff::TagSet tags;
  ASSERT_TRUE(rpc_to_tags(rpc, tags));
  EXPECT_EQ(written(tags).real_value(tiff::tag::RPCCoefficients, 0), -1.0);
  EXPECT_EQ(written(tags).real_value(tiff::tag::RPCCoefficients, 2), 2.0);
}

TEST(Rpc, IsNotWrittenWithAHole) {
  auto const whole = rpc_from_tags(
      testing::TiffBuilder().doubles(tiff::tag::RPCCoefficients, std::vector<double>(92, 2.0)).directory());
  tiff::TagSet tags;
  for (std::size_t i = 2; i < whole.size(); ++i) {
    auto rpc = whole;
    rpc[i].second = "x";
    EXPECT_FALSE(rpc_to_tags(rpc, tags)) << rpc[i].first;
    rpc.erase(rpc.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_FALSE(rpc_to_tags(rpc, tags)) << whole[i].first;
  }
  auto rpc = whole;
  rpc.back().second += " 3";
  EXPECT_FALSE(rpc_to_tags(rpc, tags));
  EXPECT_TRUE(tags.values().empty());
}

}  // namespace
}  // namespace terrazzo::geo
