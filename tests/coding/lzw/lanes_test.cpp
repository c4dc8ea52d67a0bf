// SPDX-License-Identifier: Apache-2.0
#include "coding/lzw/lanes.hpp"

#include "coding/lzw/decode.hpp"
#include "coding/lzw/lanes_portable.hpp"
#include "coding/lzw/plain.hpp"
#include "support/lzw_stream.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace terrazzo::coding {
namespace {

using testing::noise;

constexpr std::size_t kLeast = kLzwLanes * kLzwLeastLaneBytes, kMost = kLzwLanes * kLzwMostLaneBytes;

// A whole stream of what the lanes put; empty where they give up.
Bytes encode(LzwLanes& lanes, Bytes const& in) {
  Bytes out(in.size() * 2 + 64);
  LzwCodeWriter writer(out.data());
  writer.put(kLzwClear, kLzwMinWidth);
  if (!lanes.encode(in, writer)) { return {}; }
  writer.put(kLzwEndOfInformation, kLzwMinWidth);
  out.resize(writer.finish());
  return out;
}

Bytes encode(Bytes const& in) {
  auto const lanes = std::make_unique<LzwLanes>();
  return encode(*lanes, in);
}

// The lanes by their definition: pieces one after the other, strings in buckets of two of which the first stays.
Bytes plain_stream(Bytes const& in) {
  struct String {
    std::size_t prefix = 0, code = 0;
    std::byte byte{};
  };
  PlainLzwStream stream;
  for (std::size_t lane = 0; lane < kLzwLanes; ++lane) {
    std::vector<std::vector<String>> buckets(kLzwBuckets);
    auto const end = static_cast<std::ptrdiff_t>((lane + 1) * in.size() / kLzwLanes);
    auto at = static_cast<std::ptrdiff_t>(lane * in.size() / kLzwLanes);
    auto prefix = std::to_integer<std::size_t>(in[static_cast<std::size_t>(at)]);
    while (++at < end) {
      std::byte const byte = in[static_cast<std::size_t>(at)];
      auto& bucket = buckets[prefix ^ kLzwSpread[std::to_integer<std::size_t>(byte)]];
      auto const found = std::find_if(bucket.begin(), bucket.end(), [&](String const& string) {
        return string.prefix == prefix && string.byte == byte;
      });
      if (found != bucket.end()) {
        prefix = found->code;
        continue;
      }
      if (bucket.size() == 2) { bucket.pop_back(); }
      bucket.push_back({prefix, stream.next(), byte});
      if (stream.put_string(prefix)) { buckets.assign(kLzwBuckets, {}); }
      prefix = std::to_integer<std::size_t>(byte);
    }
    if (!stream.put_string(prefix)) { stream.clear(); }
  }
  return stream.finish();
}

TEST(LzwLanes, TakesPiecesOfAUsefulSizeAndLeavesLittle) {
  EXPECT_EQ(LzwLanes::bytes_of(0), 0U);
  EXPECT_EQ(LzwLanes::bytes_of(kLeast), 0U);
  for (std::size_t const size : {kLeast + 1, kLeast + 2, kLeast + 3, kMost, kMost + 1, kMost + 2, 2 * kMost + 1,
                                 std::size_t{2'097'152}, std::size_t{12'345'678}}) {
    std::size_t left = size;
    while (std::size_t const bytes = LzwLanes::bytes_of(left)) {
      ASSERT_EQ(bytes % kLzwLanes, 0U);
      ASSERT_GE(bytes, kLeast);
      ASSERT_LE(bytes, kMost);
      ASSERT_LT(bytes, left) << "one byte is left";
      left -= bytes;
    }
    EXPECT_LE(left, 1 + kLzwLanes * (size / kMost + 1)) << "of " << size;
  }
}

TEST(LzwLanes, GivesTheBytesOfItsDefinition) {
  auto const lanes = std::make_unique<LzwLanes>();
  for (std::size_t const size : {kLeast, kLeast + 3, kLeast + 300, kMost}) {
    for (double const deviation : {20.0, 60.0, 9000.0}) {
      Bytes const data = lzw_differences(size, deviation, 7);
      ASSERT_EQ(encode(*lanes, data), plain_stream(data)) << size << " bytes, " << deviation;
    }
    Bytes const data = noise(size, 8, 256);
    ASSERT_EQ(encode(*lanes, data), plain_stream(data)) << size << " bytes of noise";
  }
}

// Noise takes about a code a byte, so pieces end at every place around a full table, and just with one.
TEST(LzwLanes, GivesTheBytesOfItsDefinitionWhereAPieceEndsWithItsTable) {
  auto const lanes = std::make_unique<LzwLanes>();
  Bytes const data = noise(kLeast + 3 * 3000, 9, 256);
  for (std::size_t size = kLeast + 3 * 200; size < data.size(); size += 3 * 7) {
    Bytes const part(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(size));
    Bytes const stream = encode(*lanes, part);
    Bytes back(part.size());
    ASSERT_EQ(lzw_decode(stream, back).status, tile::TileStatus::ok) << size;
    ASSERT_EQ(back, part);
  }
  for (std::size_t size = kLeast + 3 * 2000; size < kLeast + 3 * 2040; size += 3) {
    Bytes const part(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(size));
    ASSERT_EQ(encode(*lanes, part), plain_stream(part)) << size;
  }
}

TEST(LzwLanes, StaysWithinHalfAPercentOfOneTable) {
  for (double const deviation : {60.0, 500.0}) {
    Bytes const data = lzw_differences(kMost, deviation, 10);
    Bytes const stream = encode(data);
    EXPECT_FALSE(stream.empty());
    EXPECT_LE(static_cast<double>(stream.size()), 1.005 * static_cast<double>(plain_lzw_stream(data).size()));
  }
}

// The tables that pieces leave unfinished may cost 4 %: it depends on where they end.
TEST(LzwLanes, GivesRowsThatRepeatUpOrStaysWithinOnePercent) {
  auto const lanes = std::make_unique<LzwLanes>();
  std::size_t taken = 0, given_up = 0;
  for (std::size_t size = kLeast; size < kMost; size += 3 * 7000) {
    SCOPED_TRACE(size);
    for (std::size_t const row_bytes : {1000U, 1300U, 2200U}) {
      Bytes const data = lzw_repeated_rows(size, row_bytes, 0, 15);
      Bytes const stream = encode(*lanes, data);
      ++(stream.empty() ? given_up : taken);
      EXPECT_LE(static_cast<double>(stream.size()), 1.01 * static_cast<double>(plain_lzw_stream(data).size()));
    }
  }
  EXPECT_GT(taken, 0U);
  EXPECT_GT(given_up, 0U);
}

TEST(LzwLanes, SuitsTablesThatTakeFewBytesAndHardlyMoreWithTheirLaterHalf) {
  std::size_t const noise_bytes = kLzwCodesPerTable * 2, many = 1'000'000;
  EXPECT_TRUE(LzwLanes::suits(noise_bytes, noise_bytes / 2, many));
  EXPECT_TRUE(LzwLanes::suits(noise_bytes, noise_bytes * 45 / 100, many)) << "as uint16 with predictor 2";
  EXPECT_FALSE(LzwLanes::suits(noise_bytes, noise_bytes * 30 / 100, many)) << "as rows of 1000 that repeat";
  EXPECT_FALSE(LzwLanes::suits(noise_bytes, noise_bytes * 45 / 100, kLeast + 1)) << "short pieces pay more";
  EXPECT_FALSE(LzwLanes::suits(kLzwCodesPerTable * 3, kLzwCodesPerTable * 3 / 2, many)) << "too many bytes to a code";
}

// What other architectures run.
TEST(LzwLanes, GivesTheSameBytesWithoutItsInstructionsForX86) {
  auto const lanes = std::make_unique<LzwLanes>();
  for (std::size_t const size : {kLeast, kLeast + 300, kMost}) {
    for (Bytes const& data : {lzw_differences(size, 20, 16), lzw_differences(size, 60, 17), noise(size, 18, 256),
                              lzw_differences(size, 9000, 19)}) {
      Bytes out(data.size() * 2 + 64);
      LzwCodeWriter writer(out.data());
      writer.put(kLzwClear, kLzwMinWidth);
      ASSERT_TRUE(encode_lanes_portably(data, writer));
      writer.put(kLzwEndOfInformation, kLzwMinWidth);
      out.resize(writer.finish());
      ASSERT_EQ(out, encode(*lanes, data)) << size << " bytes";
    }
  }
}

TEST(LzwLanes, LeavesDataThatRepeatAndPutsNothing) {
  auto const lanes = std::make_unique<LzwLanes>();
  Bytes late = noise(kMost, 11, 256);  // that repeat from some place on
  for (std::size_t lane = 0; lane < kLzwLanes; ++lane) {
    auto const begin = late.begin() + static_cast<std::ptrdiff_t>(lane * kLzwMostLaneBytes);
    std::fill(begin + 20'000, begin + kLzwMostLaneBytes, std::byte{5});
  }
  for (Bytes const& data : {Bytes(kMost, std::byte{7}), lzw_differences(kMost, 1.5, 12), late}) {
    Bytes out(data.size() * 2 + 64), expected(16);
    LzwCodeWriter writer(out.data()), untouched(expected.data());
    writer.put(kLzwClear, kLzwMinWidth);
    EXPECT_FALSE(lanes->encode(data, writer));
    writer.put(5, kLzwMinWidth);
    untouched.put(kLzwClear, kLzwMinWidth);
    untouched.put(5, kLzwMinWidth);
    out.resize(writer.finish());
    expected.resize(untouched.finish());
    EXPECT_EQ(out, expected);
  }
}

// A lane of noise is some 34 tables: the numbers of tables come round.
TEST(LzwLanes, GivesTheSameBytesWhateverItEncodedBefore) {
  auto const used = std::make_unique<LzwLanes>();
  Bytes const data = lzw_differences(kLeast, 100, 13), other = noise(kMost, 14, 256);
  Bytes const fresh = encode(data);
  ASSERT_FALSE(fresh.empty());
  for (int round = 0; round < 130; ++round) {
    static_cast<void>(encode(*used, other));
    ASSERT_EQ(encode(*used, data), fresh) << "round " << round;
  }
}

}  // namespace
}  // namespace terrazzo::coding
