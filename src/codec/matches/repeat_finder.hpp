// SPDX-License-Identifier: Apache-2.0
//
// Finds repeats in blocks that are partly noise, such as predicted elevations and reflectances. Noise is searched only
// at a few positions, to detect repeats in it; in samples whose low bytes alone are noise, only repeats that begin with
// a high byte are searched; all other positions are searched. Two candidates per position suffice here, and one for
// eight or sixteen equal bytes: the important step is to choose among overlapping repeats.
//
// Other data contain repeats that this search misses: long ones with many candidates, or short ones in apparent noise,
// or at one distance, as in rows that resemble the one above. doubt() reports signs of such data.
//
// Thread rule: one thread at a time. The result depends only on the arguments.
#pragma once

#include "codec/matches/noise.hpp"
#include "codec/matches/repeat_table.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace terrazzo::codec {

// Literals, then `length` bytes that copy those `distance` before them. A length of 0 ends a part.
struct Repeat {
  std::uint32_t distance = 0, literals = 0, length = 0;
  std::uint32_t unused = 0;  // gives them the layout of libzstd's sequences (NoiseZstd)
};

class RepeatFinder {
 public:
  enum class Doubt : std::uint8_t { none, some, great };
  struct Plan {
    std::size_t part_bytes;  // a multiple of kChunkBytes; the last part has the rest, no repeat leaves its part
    std::size_t shortest = kShortest;  // or kShortestInSmall
    Doubt allowed = Doubt::great;  // the search stops at greater doubt
    bool has_planes = false;  // about half is noise in planes: fewer positions are searched, a smaller table suffices
  };

  static constexpr std::size_t kMostBytes = std::size_t{1} << 24;
  static constexpr std::size_t kChunkBytes = 8192;  // bytes weighed together
  static constexpr std::size_t kShortest = 5;
  static constexpr std::size_t kShortestInSmall = 4;  // pays if distances are small

  // Finds repeats in `in`, of 1 to kMostBytes; empty if it stopped. Valid until the next call.
  [[nodiscard]] std::span<Repeat const> find(std::span<std::byte const> in, Plan const& plan);
  [[nodiscard]] Doubt doubt() const noexcept;  // of the last call

 private:
  struct Found {
    std::uint32_t at, distance;
    std::uint32_t length;  // 0 if other repeats save more
    std::int32_t gain;  // bits saved, approximately
  };
  struct Tally {
    std::size_t noise_places = 0, noise_candidates = 0;  // searched
    std::size_t half_places = 0, half_candidates = 0;  // searched, where every other byte is noise
    std::size_t shorter = 0;  // repeats used that are not long
    std::size_t medium = 0, longer = 0;  // shorter repeats with at least eight and sixteen bytes
    std::size_t aligned = 0;  // shorter repeats with the previous distance: from the row above, not by chance
  };

  void start(std::span<std::byte const> in, Plan const& plan);
  [[nodiscard]] RepeatTable table();
  void collect(std::size_t from, std::size_t to);
  template <std::size_t long_bytes>
  void look_up_all(std::size_t from, std::size_t to);
  void look_up_half(std::size_t from, std::size_t to);
  void look_up_some(std::size_t from, std::size_t to);
  void verify(std::size_t end, std::size_t limit);
  void weigh(std::size_t from, std::size_t to);
  [[nodiscard]] bool has_few_in_half() const noexcept;
  void take(std::size_t limit);
  [[nodiscard]] Repeat* room_for_repeats();
  void keep(std::span<Repeat const> taken, std::size_t covered) noexcept;
  void count(std::span<Repeat const> taken) noexcept;

  std::byte const* in_ = nullptr;
  std::size_t size_ = 0, shortest_ = kShortest;
  std::size_t covered_ = 0;  // end of the repeats used so far
  std::uint32_t place_mask_ = 0;
  unsigned index_bits_ = 0;
  std::vector<std::uint32_t> places_;  // memory of a RepeatTable
  std::vector<RepeatCandidate> candidates_;
  RepeatCandidate* candidates_end_ = nullptr;
  std::vector<Found> found_;
  Found* found_end_ = nullptr;
  std::vector<std::int32_t> saved_;  // per position in the chunk: the largest gain in bits from there on, or there
  std::vector<Repeat> repeats_;
  std::size_t repeat_count_ = 0;
  Tally tally_;
};

}  // namespace terrazzo::codec
