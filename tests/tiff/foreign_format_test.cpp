// SPDX-License-Identifier: Apache-2.0
#include "tiff/foreign_format.hpp"

#include <gtest/gtest.h>

#include <span>
#include <string_view>

namespace terrazzo::tiff {
namespace {

std::string_view format_of(std::string_view text) { return foreign_format(std::as_bytes(std::span(text))); }

TEST(ForeignFormat, NamesFilesByTheirFirstBytes) {
  EXPECT_EQ(format_of("<VRTDataset rast"), "a VRT, which is not read yet");
  EXPECT_EQ(format_of("\x89PNG\r\n\x1A\n"), "a PNG picture");
  EXPECT_EQ(format_of(std::string_view("\0\0\0\x0CjP  \r\n\x87\n", 12)), "a JPEG 2000 picture");
  EXPECT_EQ(format_of("\x89HDF\r\n\x1A\n"), "an HDF5 or NetCDF file");
}

TEST(ForeignFormat, KnowsNothingOfOtherBytes) {
  EXPECT_EQ(format_of(""), "");
  EXPECT_EQ(format_of("\x89P"), "");
  EXPECT_EQ(format_of(std::string_view("\0\0\0\x0C", 4)), "");
  EXPECT_EQ(format_of("certainly not"), "");
}

}  // namespace
}  // namespace terrazzo::tiff
