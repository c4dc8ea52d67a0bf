// SPDX-License-Identifier: Apache-2.0
#include "codec/matches/match_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace terrazzo::codec {
namespace {

using Bytes = std::vector<std::byte>;

Bytes random_bytes(std::size_t count, unsigned values, unsigned seed) {
  std::mt19937 random(seed);
  Bytes bytes(count);
  for (std::byte& byte : bytes) { byte = static_cast<std::byte>(random() % values); }
  return bytes;
}

template <class Places>
class MatchTableTest : public ::testing::Test {};
using AllPlaces = ::testing::Types<std::uint16_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(MatchTableTest, AllPlaces);

TEST(CommonLength, CountsEqualBytesUpToTheLongestMatch) {
  for (std::size_t length = 0; length <= kLongestMatch + 5; ++length) {
    Bytes const a(kLongestMatch + 10, std::byte{3});
    Bytes b = a;
    b[length] = std::byte{4};
    EXPECT_EQ(common_length(a.data(), b.data()), std::min(length, kLongestMatch)) << length;
  }
}

// The input lies in memory of its own, so that the sanitizer sees a place before or behind it.
TYPED_TEST(MatchTableTest, FindsOnlyMatchesThatAreThereAndAsLongAsTheyAre) {
  for (unsigned const values : {1U, 2U, 4U, 10U, 256U}) {
    Bytes const in = random_bytes(150'000, values, values);
    MatchTable<TypeParam> table;
    table.clear();
    std::size_t found = 0;
    for (std::size_t at = 1; at + kLongestMatch <= in.size(); ++at) {
      FoundMatch const match = at % 7 == 0 ? table.find_long(in.data(), at) : table.find(in.data(), at);
      if (match.distance == 0) {
        ASSERT_EQ(match.length, 0U);
        continue;
      }
      ++found;
      ASSERT_LE(match.distance, std::min(at, kFarthestMatch));
      ASSERT_GE(match.length, at % 7 == 0 ? 8 : MatchTable<TypeParam>::kShortest);
      ASSERT_EQ(match.length, common_length(in.data() + at, in.data() + at - match.distance));
    }
    if (values <= 4) { EXPECT_GT(found, in.size() / 2); }
  }
}

TYPED_TEST(MatchTableTest, FindsCopiesAtEveryDistanceThatDeflateHas) {
  for (std::size_t const distance : {1U, 2U, 5U, 300U, 5000U, 32'767U, 32'768U}) {
    for (std::size_t const start : {1U, 40'000U, 100'000U}) {
      SCOPED_TRACE(::testing::Message() << distance << " from " << start);
      Bytes in = random_bytes(200'000, 256, 9);
      for (std::size_t i = 0; i < 20; ++i) { in[start + distance + i] = in[start + i]; }
      MatchTable<TypeParam> table;
      table.clear();
      table.insert(in.data(), start);
      FoundMatch const match = table.find(in.data(), start + distance);
      EXPECT_EQ(match.distance, distance);
      EXPECT_GE(match.length, 20U);
    }
  }
}

TYPED_TEST(MatchTableTest, DoesNotFindWhatIsTooFarAway) {
  Bytes in = random_bytes(200'000, 256, 10);
  std::copy_n(in.begin() + 1000, 20, in.begin() + 1000 + kFarthestMatch + 1);
  MatchTable<TypeParam> table;
  table.clear();
  table.insert(in.data(), 1000);
  EXPECT_EQ(table.find(in.data(), 1000 + kFarthestMatch + 1).distance, 0U);
}

TEST(MatchTable, TakesTheLongestOfTheLastPlacesAndTheNearestOfEqualOnes) {
  Bytes in = random_bytes(5000, 256, 11);
  std::copy_n(in.begin() + 4000, 30, in.begin() + 1000);
  std::copy_n(in.begin() + 4000, 12, in.begin() + 2000);
  in[2012] = in[4012] ^ std::byte{1};
  MatchTable<std::uint32_t> table;
  table.clear();
  table.insert(in.data(), 1000);
  table.insert(in.data(), 2000);
  EXPECT_EQ(table.find(in.data(), 4000).distance, 3000U);
  table.clear();
  std::copy_n(in.begin() + 4000, 31, in.begin() + 1000);
  std::copy_n(in.begin() + 4000, 31, in.begin() + 2000);
  in[1031] = in[2031] = in[4031] ^ std::byte{1};
  table.insert(in.data(), 1000);
  table.insert(in.data(), 2000);
  FoundMatch const match = table.find(in.data(), 4000);
  EXPECT_EQ(match.distance, 2000U);
  EXPECT_EQ(match.length, 31U);
}

TEST(MatchTable, ForgetsEverythingWhenCleared) {
  Bytes const in(1000, std::byte{5});
  MatchTable<std::uint32_t> table;
  table.clear();
  table.insert(in.data(), 300);
  table.clear();
  EXPECT_EQ(table.find(in.data(), 400).distance, 400U);  // an empty cell is place 0, which is as good as any
}

}  // namespace
}  // namespace terrazzo::codec
