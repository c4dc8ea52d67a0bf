// SPDX-License-Identifier: Apache-2.0
#include "codec/matches/repeat_table.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
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

// Places of 16-bit samples whose high bytes, at the even places, are looked up.
constexpr std::uint32_t kPlaceMask = 127;

std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (int const value : values) { bytes.push_back(static_cast<std::byte>(value)); }
  bytes.resize(bytes.size() + 8);  // a place is read to its eighth byte
  return bytes;
}

TEST(HighByteTable, SaysHowFarBackFiveBytesWereSeenLast) {
  std::vector<std::byte> const in = bytes_of({9, 9, 0, 71, 255, 83, 0, 5, 0, 71, 255, 83, 0, 6, 0, 71, 255, 83, 0, 7});
  for (unsigned bits = 10; bits <= HighByteTable::kMostIndexBits; ++bits) {
    std::vector<std::uint32_t> memory(std::size_t{1} << bits, 0);
    HighByteTable const table(in.data(), memory, kPlaceMask);
    EXPECT_GT(table.look_up(2), kPlaceMask);
    EXPECT_EQ(table.look_up(8), 6U);
    EXPECT_EQ(table.look_up(14), 6U);
  }
}

TEST(HighByteTable, TellsFiveBytesFromOthersThatShareTheirEntry) {
  // High bytes that agree in the bits that are looked at, 7 of the first, 0 of the second, 0 and 1 of the third.
  std::vector<std::byte> const in = bytes_of({9, 9, 0, 71, 255, 83, 0, 5, 1, 71, 253, 83, 4, 6});
  std::vector<std::uint32_t> memory(std::size_t{1} << HighByteTable::kMostIndexBits, 0);
  HighByteTable const table(in.data(), memory, kPlaceMask);
  EXPECT_EQ(table.entry_of(2), table.entry_of(8));
  EXPECT_GT(table.look_up(2), kPlaceMask);
  EXPECT_GT(table.look_up(8), kPlaceMask);
}

TEST(HighByteTable, HasAnEntryForEachOfTheBytesOfSignedNoise) {
  std::vector<std::uint32_t> memory(std::size_t{1} << HighByteTable::kMostIndexBits, 0);
  std::vector<bool> taken(memory.size());
  for (unsigned key = 0; key < 1U << 19; ++key) {
    auto const sign = [key](unsigned bit) { return (key >> bit & 1) != 0 ? 255 : 0; };
    std::vector<std::byte> const in =
        bytes_of({sign(0), static_cast<int>(key >> 3 & 0xFF), sign(1), static_cast<int>(key >> 11 & 0xFF), sign(2)});
    auto const entry =
        static_cast<std::size_t>(HighByteTable(in.data(), memory, kPlaceMask).entry_of(0) - memory.data());
    ASSERT_LT(entry, memory.size());
    ASSERT_FALSE(taken[entry]) << key;
    taken[entry] = true;
  }
}

}  // namespace
}  // namespace terrazzo::codec
