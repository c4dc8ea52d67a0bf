// SPDX-License-Identifier: Apache-2.0
//
// Finds earlier copies of bytes for Deflate: the last positions of every hash of five bytes, and of eight, so that long
// matches are found among few candidates in repetitive data. All candidates are compared at once and without branches,
// because which of them is the longest is unpredictable; following a chain of positions took most of the encoder's
// time.
//
// A position is stored by its low 16 bits and read as a distance of 1 to 32768: any value in the table is a distance
// that Deflate supports, and it lies in the input if positions are looked up in ascending order. The bytes themselves
// are compared, so outdated positions and empty cells do no harm.
#pragma once

#include "codec/deflate/block_writer.hpp"
#include "codec/matches/common_length.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace terrazzo::codec {

struct FoundMatch {
  std::size_t length = 0, distance = 0;  // 0: none
};

// REQUIRES: both positions have kLongestMatch bytes.
[[nodiscard]] inline std::size_t common_length(std::byte const* a, std::byte const* b) noexcept {
  return common_length(a, b, kLongestMatch);
}

// Places: as many 16-bit positions as fit in it, for either hash.
template <class Places>
class MatchTable {
 public:
  static constexpr std::size_t kShortest = 5;
  static constexpr std::size_t kLongEnough = 64;  // a match that need not be improved

  MatchTable() : by_five_(kCells), by_eight_(kCells) {}

  void clear() noexcept {
    std::ranges::fill(by_five_, Places{0});
    std::ranges::fill(by_eight_, Places{0});
  }

  void insert(std::byte const* in, std::size_t at) noexcept {
    std::uint64_t const bytes = load_eight(in + at);
    push(by_five_[hash_of_five(bytes)], at);
    push(by_eight_[hash_of_eight(bytes)], at);
  }

  // Like find(), but only for matches of eight bytes or more, from the eight-byte hash.
  [[nodiscard]] FoundMatch find_long(std::byte const* in, std::size_t at) noexcept {
    std::byte const* const here = in + at;
    std::uint64_t const bytes = load_eight(here);
    Places& eight = by_eight_[hash_of_eight(bytes)];
    Places const places = eight;
    push(eight, at);
    FoundMatch found;
    for (unsigned way = 0; way < kWays; ++way) {
      std::size_t const distance = ((at - 1 - (places >> (16 * way))) & (kFarthestMatch - 1)) + 1;
      if (load_eight(here - distance) != bytes) { continue; }
      std::size_t const length = common_length(here, here - distance);
      if (length > found.length) { found = {length, distance}; }
    }
    return found;
  }

  // The longest match at `at`, if it has kShortest bytes; inserts `at`. REQUIRES: `at` is above 0 and above all
  // inserted positions, and kLongestMatch bytes follow it.
  [[nodiscard]] FoundMatch find(std::byte const* in, std::size_t at) noexcept {
    std::byte const* const here = in + at;
    std::uint64_t const bytes = load_eight(here);
    Places& five = by_five_[hash_of_five(bytes)];
    Places& eight = by_eight_[hash_of_eight(bytes)];
    Places const places[2] = {five, eight};
    push(five, at);
    push(eight, at);
    auto const distance_of = [&](unsigned way) {
      std::size_t const place = places[way / kWays] >> (16 * (way % kWays));
      return ((at - 1 - place) & (kFarthestMatch - 1)) + 1;
    };
    std::size_t distance = distance_of(0);
    std::uint64_t equal = equal_bytes(bytes, load_eight(here - distance));
#pragma GCC unroll 8
    for (unsigned way = 1; way < 2 * kWays; ++way) {
      std::size_t const other = distance_of(way);
      std::uint64_t const other_equal = equal_bytes(bytes, load_eight(here - other));
      bool const better = other_equal > equal;
      equal = better ? other_equal : equal;
      distance = better ? other : distance;
    }
    if (equal < kFiveEqual) { return {}; }
    if (equal != kEightEqual) {
      return {static_cast<std::size_t>(std::countr_one(equal | ~kEightEqual)) / 8, distance};
    }
    FoundMatch found{common_length(here, here - distance), distance};
    for (unsigned way = 1; way < 2 * kWays && found.length < kLongEnough; ++way) {
      std::size_t const other = distance_of(way);
      if (other == found.distance) { continue; }
      std::size_t const length = common_length(here, here - other);
      if (length > found.length || (length == found.length && other < found.distance)) { found = {length, other}; }
    }
    return found;
  }

 private:
  static constexpr unsigned kWays = sizeof(Places) / 2, kHashBits = 13;
  static constexpr std::size_t kCells = std::size_t{1} << kHashBits;
  // The highest bit of each equal byte, from the first byte on.
  static constexpr std::uint64_t kEightEqual = 0x8080'8080'8080'8080, kFiveEqual = std::uint64_t{0x80} << 32;
  static constexpr std::uint64_t kMix = 0x9E37'79B1'85EB'CA87;

  static std::size_t hash_of_five(std::uint64_t bytes) noexcept { return (bytes << 24) * kMix >> (64 - kHashBits); }
  static std::size_t hash_of_eight(std::uint64_t bytes) noexcept { return bytes * kMix >> (64 - kHashBits); }
  static std::uint64_t equal_bytes(std::uint64_t a, std::uint64_t b) noexcept {
    std::uint64_t const differ = a ^ b;
    return (differ - 1) & ~differ & kEightEqual;
  }
  // Inserts the newest position first and drops the oldest.
  static void push(Places& places, std::size_t at) noexcept {
    places = static_cast<Places>(places << 16 | static_cast<std::uint16_t>(at));
  }

  std::vector<Places> by_five_, by_eight_;
};

}  // namespace terrazzo::codec
