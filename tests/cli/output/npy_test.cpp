// SPDX-License-Identifier: Apache-2.0
#include "output/npy.hpp"

#include <gtest/gtest.h>

namespace terrazzo::cli {
namespace {

TEST(NpyHeader, IsVersionOneAlignedAndEndsTheLine) {
  std::string const header = npy_header(DType::f32, {1, 75, 101});
  EXPECT_EQ(header.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  EXPECT_EQ(header.size() % 64, 0U);
  EXPECT_EQ(header.back(), '\n');
  std::size_t const length = static_cast<unsigned char>(header[8]) + 256U * static_cast<unsigned char>(header[9]);
  EXPECT_EQ(length + 10, header.size());
  EXPECT_NE(header.find("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 75, 101, ), }"), std::string::npos);
}

TEST(NpyHeader, BytesHaveNoOrder) { EXPECT_NE(npy_header(DType::u8, {1}).find("'|u1'"), std::string::npos); }

TEST(NpyHeader, ComplexFloatsAreNumpysOwn) {
  std::string const header = npy_header(DType::cf32, {2, 3});
  EXPECT_NE(header.find("'<c8'"), std::string::npos);
  EXPECT_NE(header.find("(2, 3, )"), std::string::npos);
}

TEST(NpyHeader, ComplexIntegersGetALastAxisOfTwo) {
  std::string const header = npy_header(DType::ci16, {2, 3});
  EXPECT_NE(header.find("'<i2'"), std::string::npos);
  EXPECT_NE(header.find("(2, 3, 2, )"), std::string::npos);
}

}  // namespace
}  // namespace terrazzo::cli
