// SPDX-License-Identifier: Apache-2.0
#include "codec/matches/common_length.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace terrazzo::codec {
namespace {

TEST(CommonLength, LoadsTheFirstByteLowest) {
  std::vector<std::byte> bytes;
  for (int i = 0; i < 9; ++i) { bytes.push_back(static_cast<std::byte>(i)); }
  EXPECT_EQ(load_eight(bytes.data()), 0x0706'0504'0302'0100U);
  EXPECT_EQ(load_eight(bytes.data() + 1), 0x0807'0605'0403'0201U);
}

// Each input has no byte behind the limit, so that the sanitizer sees a read there.
TEST(CommonLength, CountsEqualBytesUpToTheLimit) {
  for (std::size_t limit = 0; limit <= 40; ++limit) {
    std::vector<std::byte> const a(limit, std::byte{3});
    for (std::size_t differs_at = 0; differs_at <= limit; ++differs_at) {
      std::vector<std::byte> b = a;
      if (differs_at < limit) { b[differs_at] = std::byte{4}; }
      EXPECT_EQ(common_length(a.data(), b.data(), limit), differs_at) << limit;
    }
  }
}

}  // namespace
}  // namespace terrazzo::codec
