// SPDX-License-Identifier: Apache-2.0
#include "output/format.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <sstream>

namespace terrazzo::cli {
namespace {

TEST(Format, BytesHaveBinaryUnits) {
  EXPECT_EQ(format_bytes(1023), "1023 bytes");
  EXPECT_EQ(format_bytes(1536), "1.50 KiB");
  EXPECT_EQ(format_bytes(std::uint64_t{5} << 40), "5.00 TiB");
  EXPECT_EQ(format_bytes(~std::uint64_t{0}), "16.0 EiB");
}

TEST(Format, NumbersAreShortAndReadBackTheSame) {
  EXPECT_EQ(format_number(0.1), "0.1");
  EXPECT_EQ(format_number(-9999), "-9999");
  EXPECT_EQ(format_number(-std::numeric_limits<double>::quiet_NaN()), "nan");
  EXPECT_EQ(format_number(400000), "400000");
  EXPECT_EQ(format_number(1e300), "1e+300");
  EXPECT_EQ(format_number(-std::numeric_limits<float>::max()), "-3.4028234663852886e+38");
  EXPECT_EQ(format_number(std::numeric_limits<double>::quiet_NaN()), "nan");
  EXPECT_EQ(std::stod(format_number(1.0 / 3)), 1.0 / 3);
}

TEST(Format, CountsAreGrouped) {
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1000), "1,000");
  EXPECT_EQ(format_count(1234567), "1,234,567");
}

TEST(Format, SecondsChooseTheirUnit) {
  EXPECT_EQ(format_seconds(0.000012), "12 us");
  EXPECT_EQ(format_seconds(0.0123), "12.3 ms");
  EXPECT_EQ(format_seconds(12.345), "12.35 s");
}

TEST(FormatCoordinate, LeavesOutTheNoiseOfSums) {
  EXPECT_EQ(format_coordinate(500100.00000000006), "500100");
  EXPECT_EQ(format_coordinate(-0.1 - 0.2), "-0.3");
  EXPECT_EQ(format_coordinate(4999250.125), "4999250.125");
}

TEST(FormatDegrees, HasSevenDecimals) {
  EXPECT_EQ(format_degrees(13.727967039689757), "13.727967");
  EXPECT_EQ(format_degrees(-180), "-180");
  EXPECT_EQ(format_degrees(-1e-12), "0");
}

TEST(Printable, TakesTheTerminalAwayFromTheFile) {
  EXPECT_EQ(printable("a\x1b[31mb\nc"), "a [31mb c");
  EXPECT_EQ(printable("température"), "température");
  EXPECT_EQ(printable("abcdef", 3), "abc...");
  EXPECT_EQ(printable("a\xc2\x9b"
                      "31mb"),
            "a 31mb");  // U+009B
  EXPECT_EQ(printable("a\xe2\x80\xae"
                      "b\xe2\x81\xa9"),
            "a b ");  // marks of direction
  EXPECT_EQ(printable("\xe2\x80\x93\xc2\xa0\xc2"), "\xe2\x80\x93\xc2\xa0\xc2");  // a dash, a space, half a character
  EXPECT_EQ(printable_name(std::string(300, 'x') + "\r"), std::string(300, 'x') + " ");
}

TEST(Table, AlignsColumnsAndDropsEmptyOnes) {
  Table table({"band", "unit", "nodata"});
  table.add({"1", "", "-9999"});
  table.add({"10", "", ""});
  std::ostringstream out;
  table.print(out, "  ");
  EXPECT_EQ(out.str(), "  band  nodata\n  1     -9999\n  10\n");
}

TEST(Table, CountsCharactersNotBytes) {
  Table table({"unit", "x"});
  table.add({"°C", "1"});
  std::ostringstream out;
  table.print(out, "");
  EXPECT_EQ(out.str(), "unit  x\n°C    1\n");
}

}  // namespace
}  // namespace terrazzo::cli
