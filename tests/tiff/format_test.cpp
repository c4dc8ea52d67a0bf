// SPDX-License-Identifier: Apache-2.0
#include "tiff/format.hpp"

#include <gtest/gtest.h>

namespace terrazzo::tiff {
namespace {

TEST(FieldTypes, HaveTheSizesOfTheSpecifications) {
  std::size_t const expected[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8, 0};
  for (std::uint16_t type = 0; type < std::size(expected); ++type) {
    EXPECT_EQ(field_type_bytes(type), expected[type]) << type;
  }
}

TEST(FieldTypes, ThatNobodyDefinedHaveNoSize) {
  for (unsigned type = 19; type < 65536; ++type) { ASSERT_EQ(field_type_bytes(static_cast<std::uint16_t>(type)), 0u); }
}

TEST(FieldTypes, OfUnsignedNumbersAreSix) {
  for (unsigned type = 0; type < 65536; ++type) {
    bool const expected = type == 1 || type == 3 || type == 4 || type == 13 || type == 16 || type == 18;
    ASSERT_EQ(is_unsigned_type(static_cast<std::uint16_t>(type)), expected) << type;
  }
}

TEST(CompressionNames, AreThoseOfTheCommandLine) {
  EXPECT_EQ(compression_name(Compression::none), "none");
  EXPECT_EQ(compression_name(static_cast<Compression>(5)), "lzw");
  EXPECT_EQ(compression_name(static_cast<Compression>(8)), "deflate");
  EXPECT_EQ(compression_name(static_cast<Compression>(32946)), "deflate");
  EXPECT_EQ(compression_name(static_cast<Compression>(50000)), "zstd");
  EXPECT_EQ(compression_name(static_cast<Compression>(33005)), "jpeg2000");
  EXPECT_EQ(compression_name(static_cast<Compression>(52546)), "jpeg-xl");
}

TEST(CompressionNames, OfNumbersNobodyKnowsAreUnknown) {
  for (std::uint32_t const number : {0u, 10u, 65000u, 4'000'000'000u}) {
    EXPECT_EQ(compression_name(static_cast<Compression>(number)), "unknown") << number;
  }
}

TEST(PhotometricNames, AreKnownOrUnknown) {
  EXPECT_EQ(photometric_name(Photometric::min_is_white), "miniswhite");
  EXPECT_EQ(photometric_name(Photometric::min_is_black), "minisblack");
  EXPECT_EQ(photometric_name(static_cast<Photometric>(32845)), "logluv");
  EXPECT_EQ(photometric_name(static_cast<Photometric>(7)), "unknown");
}

}  // namespace
}  // namespace terrazzo::tiff
