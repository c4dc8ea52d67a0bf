// SPDX-License-Identifier: Apache-2.0
#include "codec/matches/repeat_table.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace terrazzo::codec {
namespace {

class RepeatTableTest : public ::testing::Test {
 protected:
  static constexpr std::size_t kHashed = 5;
  static constexpr std::string_view kText =
      "a repeat of some length, then others; a repeat of some kind. a repeat of another, and zzzzzzzzzzzzzzzzzzzz";

  // Places at which the text has `part`, in order.
  static std::vector<std::uint32_t> places_of(std::string_view part) {
    std::vector<std::uint32_t> places;
    for (std::size_t at = kText.find(part); at != kText.npos; at = kText.find(part, at + 1)) {
      places.push_back(static_cast<std::uint32_t>(at));
    }
    return places;
  }

  std::vector<std::uint32_t> memory_ = std::vector<std::uint32_t>(2 << 10, 0);
  RepeatTable table_{reinterpret_cast<std::byte const*>(kText.data()), memory_, 127, kHashed};
};

TEST_F(RepeatTableTest, GivesTheTwoLastPlacesTheNewerFirst) {
  std::vector<std::uint32_t> const places = places_of("repeat of");
  ASSERT_EQ(places.size(), 3U);
  std::array<RepeatCandidate, 3> found{};
  EXPECT_EQ(table_.look_up(places[0], found.data()), found.data());
  EXPECT_EQ(table_.look_up(places[1], found.data()), found.data() + 1);
  EXPECT_EQ(found[0].at, places[1]);
  EXPECT_EQ(found[0].from, places[0]);
  EXPECT_EQ(table_.look_up(places[2], found.data()), found.data() + 2);
  EXPECT_EQ(found[0].from, places[1]);
  EXPECT_EQ(found[1].from, places[0]);
}

TEST_F(RepeatTableTest, PrefersThePlaceThatHasMoreInCommon) {
  // "a repeat of some" comes twice, "a repeat of another" after it: the last place with five is not the one with 16.
  std::vector<std::uint32_t> const places = places_of("a repeat of");
  std::array<RepeatCandidate, 2> found{};
  EXPECT_EQ(table_.look_up_long<16>(places[0], found.data()), found.data());
  EXPECT_EQ(table_.look_up_long<16>(places[2], found.data()), found.data() + 1);
  EXPECT_EQ(found[0].from, places[0]);
  EXPECT_EQ(table_.look_up_long<16>(places[1], found.data()), found.data() + 1);
  EXPECT_EQ(found[0].from, places[0]);
}

TEST_F(RepeatTableTest, HashesNoMoreBytesThanItIsTold) {
  std::vector<std::uint32_t> const places = places_of("some ");
  ASSERT_EQ(places.size(), 2U);
  EXPECT_EQ(table_.hash(places[0]), table_.hash(places[1]));
  EXPECT_NE(table_.long_hash<8>(places[0]), table_.long_hash<8>(places[1]));
}

}  // namespace
}  // namespace terrazzo::codec
