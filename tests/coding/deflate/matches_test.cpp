// SPDX-License-Identifier: Apache-2.0
#include "coding/deflate/matches.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

namespace terrazzo::coding {
namespace {

class DeflateMatchesTest : public ::testing::Test {
 protected:
  DeflateMatchesTest() {
    std::mt19937 engine(4);
    for (std::size_t i = 0; i < bytes_.size(); ++i) { bytes_[i] = static_cast<std::uint8_t>(engine() % 2); }
    std::memcpy(words_.data(), bytes_.data(), bytes_.size());
  }
  std::vector<std::uint8_t> bytes_ = std::vector<std::uint8_t>(kDeflateWindowBytes);
  std::vector<std::uint32_t> words_ = std::vector<std::uint32_t>(kDeflateWindowWords);
  DeflateWindow window_{words_.data(), 0, kDeflateHistoryBytes + 1000};
};

TEST_F(DeflateMatchesTest, ComparesBytesAtAnyPlace) {
  for (std::uint32_t position = 100; position < 200; ++position) {
    for (std::uint32_t distance = 1; distance <= 90; ++distance) {
      for (std::uint32_t const longest : {1u, 3u, 4u, 5u, 32u, 258u}) {
        std::uint32_t length = 0;
        while (length < longest && bytes_[position + length] == bytes_[position + length - distance]) { ++length; }
        ASSERT_EQ(window_.common_length(position, distance, 0, longest), length);
      }
    }
  }
}

TEST_F(DeflateMatchesTest, KeepsLengthAndDistanceInAKey) {
  for (std::uint32_t const distance : {1u, 2u, 4u, 5u, 8u, 9u, 4095u, 4096u, 32'767u, 32'768u}) {
    for (std::uint32_t length = shortest_match_at(distance); length <= kDeflateLookBytes; ++length) {
      DeflateMatchKey const key(length, distance);
      EXPECT_EQ(key.length(), length);
      EXPECT_EQ(key.distance(), distance);
      EXPECT_NE(key.key, 0u);
      if (distance < 32'768 && length > 5) { EXPECT_GT(key.key, DeflateMatchKey(length, distance + 1).key); }
      EXPECT_LT(key.key, DeflateMatchKey(length + 1, distance).key);
    }
  }
}

// The best of all candidates that a lane has, found byte by byte.
template <std::uint32_t kLanes>
std::uint32_t best_by_bytes(DeflateWindow const& window, std::uint32_t const* slots, std::uint32_t position,
                            std::uint32_t lane) {
  std::uint32_t best = 0;
  auto const consider = [&](std::uint32_t distance) {
    if (distance > position - window.oldest || distance > kDeflateFarthest) { return; }
    std::uint32_t const longest = std::min(window.end - position, kDeflateLookBytes);
    std::uint32_t length = 0;
    while (length < longest && window.byte_at(position + length) == window.byte_at(position + length - distance)) {
      ++length;
    }
    if (length >= shortest_match_at(distance)) { best = std::max(best, DeflateMatchKey(length, distance).key); }
  };
  using Table = DeflateTable<kLanes>;
  std::uint32_t const bucket = Table::bucket_of(window.word_at(position));
  for (std::uint32_t way = 0; way < Table::kWays; ++way) {
    std::uint32_t const candidate = slots[bucket + lane * Table::kWays + way];
    if (candidate != 0 && window.word_at(candidate) == window.word_at(position)) { consider(position - candidate); }
  }
  for (std::uint32_t distance = lane + 1; distance <= kDeflateNearest; distance += kLanes) { consider(distance); }
  return best;
}

TEST_F(DeflateMatchesTest, FindsTheBestOfALanesCandidates) {
  std::mt19937 engine(9);
  std::vector<std::uint32_t> slots(kDeflateSlots);
  std::size_t found = 0;
  auto const expect_lanes = [&]<std::uint32_t kLanes>(std::uint32_t position) {
    std::uint32_t const bucket = DeflateTable<kLanes>::bucket_of(window_.word_at(position));
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      for (std::uint32_t way = 0; way < DeflateTable<kLanes>::kWays; ++way) {
        auto const candidate = static_cast<std::uint32_t>(window_.oldest + engine() % (position - window_.oldest + 1));
        slots[bucket + lane * DeflateTable<kLanes>::kWays + way] = candidate == position ? 0 : candidate;
      }
      DeflateLane<kLanes> const look(window_, position, lane);
      std::uint32_t const expected = best_by_bytes<kLanes>(window_, slots.data(), position, lane);
      ASSERT_EQ(look.bucket(), bucket);
      // Where nothing differs a lane may say what only another would find: the nearest.
      std::uint32_t const nearest = DeflateMatchKey(kDeflateLookBytes, 1).key;
      std::uint32_t const got = look.best(slots.data());
      if (got != nearest || expected == nearest) {
        ASSERT_EQ(got, expected) << position << ", lane " << lane << " of " << kLanes;
      } else {
        ASSERT_EQ(best_by_bytes<kLanes>(window_, slots.data(), position, 0), nearest);
      }
      found += got != 0 ? 1 : 0;
    }
  };
  for (std::uint32_t const oldest : {0U, kDeflateHistoryBytes}) {
    window_.oldest = oldest;
    for (std::uint32_t position = kDeflateHistoryBytes; position < window_.end; ++position) {
      expect_lanes.template operator()<1>(position);
      expect_lanes.template operator()<2>(position);
      expect_lanes.template operator()<4>(position);
    }
  }
  EXPECT_GT(found, 1000u);
  // A run to the end of the piece, and zeros behind it that are not part of it.
  std::fill(words_.begin(), words_.end(), 0U);
  for (std::uint32_t position = kDeflateHistoryBytes; position < window_.end; ++position) {
    expect_lanes.template operator()<1>(position);
    expect_lanes.template operator()<4>(position);
  }
}

TEST_F(DeflateMatchesTest, ReachesTheFarthestAndNoFarther) {
  std::vector<std::uint32_t> slots(kDeflateSlots);
  for (std::size_t i = 0; i < words_.size(); ++i) { words_[i] = static_cast<std::uint32_t>(i * 0x9E3779B1U); }
  window_.end = kDeflateHistoryBytes + kDeflatePieceBytes;
  std::uint32_t const position = 36'000;
  for (std::uint32_t const distance : {kDeflateFarthest - 4, kDeflateFarthest, kDeflateFarthest + 4}) {
    std::copy_n(words_.begin() + (position - distance) / 4, 3, words_.begin() + position / 4);
    std::fill(slots.begin(), slots.end(), position - distance);
    DeflateMatchKey const key(DeflateLane<1>(window_, position, 0).best(slots.data()));
    if (distance > kDeflateFarthest) {
      EXPECT_EQ(key.key, 0u);
    } else {
      EXPECT_EQ(key.distance(), distance);
      EXPECT_GE(key.length(), 12u);
    }
  }
}

TEST_F(DeflateMatchesTest, LeavesThreeBytesToTheLiteralsWhereFourAreWanted) {
  std::vector<std::uint32_t> const slots(kDeflateSlots);
  for (std::uint32_t const same : {3u, 4u}) {
    for (std::size_t i = 0; i < bytes_.size(); ++i) { bytes_[i] = static_cast<std::uint8_t>(i * i >> 7 ^ i * 3); }
    std::uint32_t const position = kDeflateHistoryBytes + 100;
    for (std::uint32_t i = 0; i <= same; ++i) {
      bytes_[position + i] = static_cast<std::uint8_t>(bytes_[position + i - 5] ^ (i == same ? 1 : 0));
    }
    std::memcpy(words_.data(), bytes_.data(), bytes_.size());
    DeflateMatchKey const three(DeflateLane<1, 3>(window_, position, 0).best(slots.data()));
    EXPECT_EQ(three.length(), same);
    EXPECT_EQ(three.distance(), 5u);
    std::uint32_t const four = DeflateLane<1, 4>(window_, position, 0).best(slots.data());
    EXPECT_EQ(four, same == 3 ? 0 : three.key);
  }
}

TEST_F(DeflateMatchesTest, LeavesAMatchToABetterOneBehindIt) {
  DeflateMatchKey const shorter(5, 100), longer(6, 100), none;
  EXPECT_EQ(length_to_take(none, longer, 50), 0u);
  EXPECT_EQ(length_to_take(shorter, none, 50), 5u);
  EXPECT_EQ(length_to_take(shorter, longer, 50), 0u);
  EXPECT_EQ(length_to_take(longer, shorter, 50), 6u);
  EXPECT_EQ(length_to_take(longer, none, 4), 4u);
  EXPECT_EQ(length_to_take(longer, none, 2), 0u);
}

TEST_F(DeflateMatchesTest, KeepsTheHighestPositionWhateverTheOrder) {
  using Table = DeflateTable<4>;
  std::vector<std::uint32_t> slots(kDeflateSlots), reversed(kDeflateSlots);
  for (std::uint32_t i = 0; i < 3000; ++i) {
    Table::insert(slots.data(), Table::bucket_of(window_.word_at(i)), i);
    Table::insert(reversed.data(), Table::bucket_of(window_.word_at(2999 - i)), 2999 - i);
  }
  EXPECT_EQ(slots, reversed);
}

TEST(DeflateTokens, TellLiteralsFromMatches) {
  for (std::uint32_t byte = 0; byte < 256; ++byte) { EXPECT_TRUE(DeflateToken::literal(byte).is_literal()); }
  for (std::uint32_t const length : {3u, 258u}) {
    for (std::uint32_t const distance : {1u, 32'768u}) {
      DeflateToken const token = DeflateToken::match(length, distance);
      EXPECT_FALSE(token.is_literal() || token.covered());
      EXPECT_EQ(token.length(), length);
      EXPECT_EQ(token.distance(), distance);
    }
  }
}

}  // namespace
}  // namespace terrazzo::coding
