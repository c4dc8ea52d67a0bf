// SPDX-License-Identifier: Apache-2.0
#include "codec/lerc/mask.hpp"

#include "codec/support.hpp"

#include <optional>

namespace terrazzo::codec::testing {
namespace {

Bytes written(Bytes const& packed) {
  Bytes stream(lerc_mask_bound(packed.size()), std::byte{0xA5});
  stream.resize(static_cast<std::size_t>(write_lerc_mask(packed, stream.data()) - stream.data()));
  return stream;
}

// A positive count and so many bytes, or a negative one and the byte that is repeated, to the end mark.
std::optional<Bytes> read_back(Bytes const& stream) {
  Bytes packed;
  for (std::size_t at = 0; at + 2 <= stream.size();) {
    std::int16_t count;
    std::memcpy(&count, stream.data() + at, 2);
    at += 2;
    if (count == -32768) { return at == stream.size() ? std::optional(packed) : std::nullopt; }
    if (count > 0) {
      auto const from = stream.begin() + static_cast<std::ptrdiff_t>(at);
      packed.insert(packed.end(), from, from + count);
      at += static_cast<std::size_t>(count);
    } else {
      packed.insert(packed.end(), static_cast<std::size_t>(-count), stream.at(at));
      at += 1;
    }
  }
  return std::nullopt;
}

Bytes bytes_of(std::vector<int> const& values) {
  Bytes bytes;
  for (int const value : values) { bytes.push_back(static_cast<std::byte>(value)); }
  return bytes;
}

TEST(LercMask, PutsTheFirstPixelIntoTheHighestBitAndSetsTheRest) {
  EXPECT_EQ(pack_lerc_mask(bytes_of({1, 0, 0, 0, 0, 0, 0, 1})), bytes_of({0x81}));
  EXPECT_EQ(pack_lerc_mask(bytes_of({0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1})), bytes_of({0x55, 0x3F}));
}

TEST(LercMask, PacksEveryPatternOfEight) {
  for (unsigned pattern = 0; pattern < 256; ++pattern) {
    Bytes valid;
    for (unsigned k = 0; k < 8; ++k) { valid.push_back(static_cast<std::byte>(pattern >> (7 - k) & 1)); }
    ASSERT_EQ(pack_lerc_mask(valid), Bytes{static_cast<std::byte>(pattern)});
  }
}

TEST(LercMask, RepeatsFiveBytesAndCopiesFewer) {
  EXPECT_EQ(written(bytes_of({9})), bytes_of({1, 0, 9, 0, 0x80}));
  EXPECT_EQ(written(bytes_of({7, 7, 7, 7, 1})), bytes_of({5, 0, 7, 7, 7, 7, 1, 0, 0x80}));
  EXPECT_EQ(written(bytes_of({7, 7, 7, 7, 7, 1})), bytes_of({0xFB, 0xFF, 7, 1, 0, 1, 0, 0x80}));
  EXPECT_EQ(written(bytes_of({7, 7, 7, 7, 7, 7})), bytes_of({0xFA, 0xFF, 7, 0, 0x80}));
  // The last five are not worth it to liblerc, and ours are its bytes.
  EXPECT_EQ(written(bytes_of({7, 7, 7, 7, 7})), bytes_of({5, 0, 7, 7, 7, 7, 7, 0, 0x80}));
}

TEST(LercMask, SplitsWhatIsTooLongForACount) {
  for (std::size_t const size : {32766U, 32767U, 32768U, 65534U, 65535U, 100'000U}) {
    Bytes const run(size, std::byte{3});
    EXPECT_EQ(read_back(written(run)), run) << size;
    Bytes const noise = random_bytes(size, 4);
    EXPECT_EQ(read_back(written(noise)), noise) << size;
  }
}

TEST(LercMask, ComesBackFromRunsOfEveryLength) {
  std::mt19937 generator(8);
  for (int round = 0; round < 2000; ++round) {
    Bytes packed;
    std::size_t const size = 1 + generator() % 60;
    while (packed.size() < size) { packed.insert(packed.end(), 1 + generator() % 9, std::byte(generator() % 3)); }
    Bytes const stream = written(packed);
    ASSERT_EQ(read_back(stream), packed);
    ASSERT_LE(stream.size(), packed.size() + 4 + packed.size() / 8);
  }
}

}  // namespace
}  // namespace terrazzo::codec::testing
