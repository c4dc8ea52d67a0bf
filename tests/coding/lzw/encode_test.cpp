// SPDX-License-Identifier: Apache-2.0
#include "coding/lzw/encode.hpp"

#include "coding/lzw/plain.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

namespace terrazzo::coding {
namespace {

Bytes encode(LzwEncoder& encoder, Bytes const& in) {
  Bytes out(lzw_encode_bound(in.size()));
  out.shrink_to_fit();
  std::size_t const size = encoder.encode(in, out);
  EXPECT_LE(size, out.size());
  out.resize(size);
  return out;
}

Bytes encode(Bytes const& in) {
  auto const encoder = std::make_unique<LzwEncoder>();
  return encode(*encoder, in);
}

void expect_round_trip(LzwEncoder& encoder, Bytes const& in) {
  Bytes const stream = encode(encoder, in);
  Bytes back(in.size(), std::byte{0xA5});
  tile::TileResult const result = lzw_decode(stream, back);
  ASSERT_EQ(result.status, tile::TileStatus::ok) << result.reason;
  ASSERT_FALSE(result.surplus_input);
  ASSERT_EQ(back, in);
}

// `kind` 0 random, 1 constant, 2 few values, 3 small differences, 4 short period.
Bytes data_of(std::size_t count, int kind, std::uint32_t seed) {
  std::mt19937 engine(seed);
  Bytes bytes(count);
  for (std::size_t i = 0; i < count; ++i) {
    unsigned const random = static_cast<unsigned>(engine());
    unsigned const value = kind == 0   ? random
                           : kind == 1 ? 7U
                           : kind == 2 ? random % 3
                           : kind == 3 ? random % 7 * (random >> 16) % 5
                                       : static_cast<unsigned>(i % 13);
    bytes[i] = static_cast<std::byte>(value & 0xFF);
  }
  return bytes;
}

TEST(LzwEncode, WritesTheExampleOfTheSpecification) {
  // TIFF 6.0, section 13: 7 7 7 8 8 7 7 6 6 becomes Clear 7 258 8 8 258 6 6 EOI, in 9 bits each.
  Bytes const in = {std::byte{7}, std::byte{7}, std::byte{7}, std::byte{8}, std::byte{8},
                    std::byte{7}, std::byte{7}, std::byte{6}, std::byte{6}};
  Bytes const stream = encode(in);
  std::vector<unsigned> codes;
  for (std::size_t bit = 0; bit + 9 <= stream.size() * 8; bit += 9) {
    unsigned code = 0;
    for (std::size_t i = bit; i < bit + 9; ++i) {
      code = code << 1 | (static_cast<unsigned>(stream[i / 8]) >> (7 - i % 8) & 1U);
    }
    codes.push_back(code);
  }
  EXPECT_EQ(codes, (std::vector<unsigned>{256, 7, 258, 8, 8, 258, 6, 6, 257}));
}

TEST(LzwEncode, RoundTripsEverySizeUpToTheFirstChangesOfWidth) {
  auto const encoder = std::make_unique<LzwEncoder>();
  for (int kind = 0; kind < 5; ++kind) {
    for (std::size_t size = 0; size < 1100; ++size) {
      SCOPED_TRACE(::testing::Message() << "kind " << kind << ", " << size << " bytes");
      expect_round_trip(*encoder, data_of(size, kind, 5));
    }
  }
}

// Random bytes take about one code each: every place in the first two tables becomes the last one.
TEST(LzwEncode, RoundTripsEndingsAtEveryPlaceAroundAFullTable) {
  auto const encoder = std::make_unique<LzwEncoder>();
  Bytes const data = data_of(9000, 0, 11);
  for (std::size_t size = 3700; size < 4300; ++size) {
    SCOPED_TRACE(size);
    expect_round_trip(*encoder, Bytes(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(size)));
  }
  for (std::size_t size = 7600; size < 8600; size += 3) {
    SCOPED_TRACE(size);
    expect_round_trip(*encoder, Bytes(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(size)));
  }
}

TEST(LzwEncode, RoundTripsLargeTilesOfEveryKind) {
  auto const encoder = std::make_unique<LzwEncoder>();
  for (int kind = 0; kind < 5; ++kind) {
    SCOPED_TRACE(kind);
    expect_round_trip(*encoder, data_of(700'001, kind, 17));
  }
}

TEST(LzwEncode, GivesTheSameBytesWhateverItEncodedBefore) {
  auto const used = std::make_unique<LzwEncoder>();
  for (int kind = 0; kind < 5; ++kind) {
    Bytes const data = data_of(50'000, kind, 3);
    Bytes const fresh = encode(data);
    static_cast<void>(encode(*used, data_of(10'000, 4 - kind, 4)));
    EXPECT_EQ(encode(*used, data), fresh);
  }
}

TEST(LzwEncode, GivesTheBytesOfAPlainEncoder) {
  auto const encoder = std::make_unique<LzwEncoder>();
  for (int kind = 0; kind < 5; ++kind) {
    for (std::size_t const size : {0U, 1U, 2U, 300U, 3835U, 3836U, 3837U, 60'000U}) {
      Bytes const data = data_of(size, kind, 29);
      ASSERT_EQ(encode(*encoder, data), plain_lzw_stream(data)) << "kind " << kind << ", " << size << " bytes";
    }
  }
}

// Runs are longer and shorter than any that has a code, and end where the data end or a table does.
TEST(LzwEncode, GivesTheBytesOfAPlainEncoderForRunsOfZeros) {
  auto const encoder = std::make_unique<LzwEncoder>();
  std::mt19937 engine(31);
  for (int round = 0; round < 60; ++round) {
    std::size_t const longest = std::size_t{2} << engine() % 11;
    unsigned const values = 1 + static_cast<unsigned>(engine()) % 256;
    Bytes data;
    while (data.size() < 1000 + engine() % 60'000) {
      data.insert(data.end(), engine() % longest, std::byte{0});
      for (std::size_t i = engine() % longest; i > 0; --i) {
        data.push_back(static_cast<std::byte>(engine() % values));
      }
    }
    ASSERT_EQ(encode(*encoder, data), plain_lzw_stream(data)) << "round " << round;
  }
  for (std::size_t size = 0; size < 300; ++size) {
    Bytes data(size);
    data.shrink_to_fit();
    ASSERT_EQ(encode(*encoder, data), plain_lzw_stream(data)) << size << " zeros";
  }
  // All codes of a table are runs, and more.
  Bytes const zeros(9'000'000);
  ASSERT_EQ(encode(*encoder, zeros), plain_lzw_stream(zeros));
}

// Too long for one table: data that repeat stay with it, others are for the lanes.
TEST(LzwEncode, GivesTheBytesOfAPlainEncoderForLongDataThatRepeat) {
  auto const encoder = std::make_unique<LzwEncoder>();
  for (int const kind : {1, 2, 4}) {
    Bytes const data = data_of(700'001, kind, 37);
    ASSERT_EQ(encode(*encoder, data), plain_lzw_stream(data)) << "kind " << kind;
  }
}

TEST(LzwEncode, LongDataAreAsShortAsAPlainEncodersWithinHalfAPercent) {
  auto const encoder = std::make_unique<LzwEncoder>();
  auto const expect_short = [&](Bytes const& data) {
    expect_round_trip(*encoder, data);
    auto const plain = static_cast<double>(plain_lzw_stream(data).size());
    EXPECT_LE(static_cast<double>(encode(*encoder, data).size()), 1.005 * plain);
  };
  for (std::size_t const size : {98'304U, 98'305U, 110'000U, 524'288U, 1'000'003U}) {
    SCOPED_TRACE(size);
    expect_short(lzw_differences(size, 80, 41));
    expect_short(data_of(size, 0, 42));
    for (std::size_t const row_bytes : {1000U, 1200U}) {
      SCOPED_TRACE(row_bytes);
      expect_short(lzw_repeated_rows(size, row_bytes, 0, 44));
      expect_short(lzw_repeated_rows(size, row_bytes, 20, 45));
    }
    // A picture's noise with an empty part behind or before it.
    for (std::size_t const noise : {size / 30, size / 3, size / 2}) {
      SCOPED_TRACE(noise);
      Bytes data = lzw_differences(noise, 80, 43);
      data.resize(size, std::byte{9});
      expect_short(data);
      std::reverse(data.begin(), data.end());
      expect_short(data);
    }
  }
}

TEST(LzwEncode, TakesTheLongestStringInTheTable) {
  // n(n+1)/2 equal bytes take n codes of growing strings; a lossy table would take more.
  std::size_t const n = 200;
  Bytes const stream = encode(Bytes(n * (n + 1) / 2, std::byte{1}));
  EXPECT_EQ(stream.size(), ((n + 2) * 9 + 7) / 8);  // Clear, n codes, EOI
}

TEST(LzwEncode, StaysWithinItsBound) {
  auto const encoder = std::make_unique<LzwEncoder>();
  for (std::size_t const size : {0U, 1U, 2U, 100U, 3836U, 3837U, 100'000U}) {
    Bytes const stream = encode(*encoder, data_of(size, 0, 23));
    EXPECT_LE(stream.size(), lzw_encode_bound(size));
  }
}

}  // namespace
}  // namespace terrazzo::coding
