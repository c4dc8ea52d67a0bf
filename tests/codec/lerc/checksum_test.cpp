// SPDX-License-Identifier: Apache-2.0
#include "codec/lerc/checksum.hpp"

#include "codec/support.hpp"

namespace terrazzo::codec::testing {
namespace {

// Word by word, as the format's description has it.
std::uint32_t plain_checksum(Bytes const& bytes) {
  std::uint32_t first = 0xFFFF, second = 0xFFFF;
  auto const fold = [](std::uint32_t sum) { return (sum & 0xFFFF) + (sum >> 16); };
  std::size_t words = 0;
  for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) {
    first += std::to_integer<std::uint32_t>(bytes[i]) * 256 + std::to_integer<std::uint32_t>(bytes[i + 1]);
    second += first;
    if (++words % 359 == 0 || i + 3 >= bytes.size()) {
      first = fold(first);
      second = fold(second);
    }
  }
  if (bytes.size() % 2 != 0) {
    first += std::to_integer<std::uint32_t>(bytes.back()) * 256;
    second += first;
  }
  return fold(second) << 16 | fold(first);
}

TEST(LercChecksum, IsKnownForAFewBytes) {
  EXPECT_EQ(lerc_checksum({}), 0xFFFFFFFFU);
  Bytes const bytes{std::byte{0x01}, std::byte{0x02}, std::byte{0x03}};
  // 0xFFFF + 0x0102 = 0x10101, folded 0x0102; with 0x0300 0x0402. 0xFFFF + 0x10101 = 0x20100, folded 0x0102; + 0x0402.
  EXPECT_EQ(lerc_checksum(bytes), 0x05040402U);
}

TEST(LercChecksum, IsTheSameWordByWordAndByVectors) {
  for (std::size_t size = 0; size < 3000; size = size < 100 ? size + 1 : size + 37) {
    for (Bytes const& bytes : {random_bytes(size, static_cast<std::uint32_t>(size)), Bytes(size, std::byte{0xFF}),
                               Bytes(size, std::byte{0})}) {
      ASSERT_EQ(lerc_checksum_portable(bytes), plain_checksum(bytes)) << size << " bytes";
      ASSERT_EQ(lerc_checksum(bytes), plain_checksum(bytes)) << size << " bytes";
    }
  }
  for (std::size_t const size : {717U, 718U, 719U, 720U, 1435U, 1436U, 1437U, 100'001U}) {
    Bytes const bytes = random_bytes(size, static_cast<std::uint32_t>(size));
    ASSERT_EQ(lerc_checksum_portable(bytes), plain_checksum(bytes)) << size << " bytes";
    ASSERT_EQ(lerc_checksum(bytes), plain_checksum(bytes)) << size << " bytes";
  }
}

// A first sum that is 0x1FFFF before the last fold is 0x10000 after it, and spills into the other half.
TEST(LercChecksum, SpillsAsDecodersDo) {
  Bytes bytes(2 * 359 + 1, std::byte{0xFF});
  bool spilled = false;
  for (unsigned word = 0; word <= 0xFFFF; ++word) {
    bytes[0] = static_cast<std::byte>(word >> 8);
    bytes[1] = static_cast<std::byte>(word & 0xFF);
    std::uint32_t const sum = plain_checksum(bytes);
    spilled = spilled || (sum & 0xFFFF) == 0;
    ASSERT_EQ(lerc_checksum(bytes), sum);
    ASSERT_EQ(lerc_checksum_portable(bytes), sum);
  }
  EXPECT_TRUE(spilled);
}

}  // namespace
}  // namespace terrazzo::codec::testing
