// SPDX-License-Identifier: Apache-2.0
#include "geo/encode.hpp"
#include "geo/written_tags.hpp"
#include "tiff/format.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace terrazzo::geo {
namespace {

std::vector<ColorEntry> table_of(std::size_t count) {
  std::vector<ColorEntry> table(count);
  for (std::size_t i = 0; i < count; ++i) {
    table[i] = {static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(255 - i % 256),
                static_cast<std::uint8_t>(i * 7), 255};
  }
  return table;
}

class EncodeColorTable : public ::testing::TestWithParam<std::uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Bits, EncodeColorTable, ::testing::Values(8, 16));

TEST_P(EncodeColorTable, IsReadBackWholeAndFilledUp) {
  for (std::size_t const given_count : {std::size_t{1}, std::size_t{200}, std::size_t{1} << GetParam()}) {
    tiff::TagSet tags;
    tags.set_short(tiff::tag::BitsPerSample, static_cast<std::uint16_t>(GetParam()));
    tags.set_short(tiff::tag::PhotometricInterpretation, 3);
    auto const given = table_of(given_count);
    encode_color_table(given, GetParam(), tags);
    auto const read = described(tags).bands.at(0).color_table;
    ASSERT_EQ(read.size(), std::size_t{1} << GetParam());
    for (std::size_t i = 0; i < read.size(); ++i) {
      ColorEntry const want = i < given.size() ? given[i] : ColorEntry{0, 0, 0, 255};
      ASSERT_EQ(read[i].red, want.red) << i;
      ASSERT_EQ(read[i].green, want.green) << i;
      ASSERT_EQ(read[i].blue, want.blue) << i;
      ASSERT_EQ(read[i].alpha, 255) << i;
    }
  }
}

TEST(EncodeColorTableErrors, RefusesTablesThatAreTooLong) {
  tiff::TagSet tags;
  EXPECT_EQ(kind_of_failure([&] { encode_color_table(table_of(257), 8, tags); }), ErrorKind::usage);
  EXPECT_EQ(kind_of_failure([&] { encode_color_table(table_of(2), 32, tags); }), ErrorKind::usage);
}

}  // namespace
}  // namespace terrazzo::geo
