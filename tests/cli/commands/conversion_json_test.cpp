// SPDX-License-Identifier: Apache-2.0
#include "commands/conversion_json.hpp"

#include <gtest/gtest.h>

namespace terrazzo::cli {
namespace {

TEST(ConversionJson, HasEveryCountInItsOrder) {
  ConvertReport report;
  report.write.bytes_written = 1234;
  report.write.tiles = 7;
  report.write.sparse_tiles = 2;
  report.write.device_tiles = 5;
  report.read.bytes_read = 99;
  EXPECT_EQ(
      to_line(conversion_to_json(report, 0.5)),
      R"({"bytes":1234,"tiles":7,"sparse_tiles":2,"device_tiles":5,"bytes_read":99,"seconds":0.5,"bad_tiles":[]})");
}

TEST(ConversionJson, NamesBadTiles) {
  ConvertReport report;
  report.read.bad_tiles.push_back({});
  EXPECT_EQ(conversion_to_json(report, 1)["bad_tiles"].size(), 1u);
}

}  // namespace
}  // namespace terrazzo::cli
