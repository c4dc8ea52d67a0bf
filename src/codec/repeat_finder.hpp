// SPDX-License-Identifier: Apache-2.0
//
// Finds repeats in blocks that are partly noise, as predicted elevations and reflectances are. Noise is passed over but
// for a few places, so that what does repeat in it is seen; of samples whose low bytes alone are noise, only repeats
// that begin with a high byte are looked for; the rest is looked at place by place. Two candidates a place are enough
// here, and one of high bytes, or where it has eight or sixteen equal bytes: what counts is to weigh those that overlap
// against each other.
//
// Data of other kinds hold repeats that this misses, long ones with many candidates, or short ones in what looks like
// noise, or at one distance, as in rows that resemble the one above. doubt() says whether it came across such.
//
// Thread rule: one thread at a time. What is found depends on the arguments alone.
#pragma once

#include "codec/noise.hpp"
#include "codec/repeat_table.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace terrazzo::codec {

// Literals, then `length` bytes that are a copy of those `distance` before them. A length of 0 ends a part.
struct Repeat {
  std::uint32_t distance = 0, literals = 0, length = 0;
  std::uint32_t unused = 0;  // so that they are libzstd's sequences as they are (NoiseZstd)
};

class RepeatFinder {
 public:
  enum class Doubt : std::uint8_t { none, some, great };
  struct Plan {
    std::size_t part_bytes;  // a multiple of kChunkBytes; the last part has what is left, no repeat leaves its part
    std::size_t shortest = kShortest;  // or kShortestInSmall
    Doubt allowed = Doubt::great;  // it stops when in greater doubt
    bool has_planes = false;  // of noise, half of it or so: fewer places are looked at, a smaller table does
  };

  static constexpr std::size_t kMostBytes = std::size_t{1} << 24;
  static constexpr std::size_t kChunkBytes = 8192;  // weighed together
  static constexpr std::size_t kShortest = 5;
  static constexpr std::size_t kShortestInSmall = 4;  // pays where distances are small

  // All of `in`, 1 to kMostBytes; nothing when it stopped. Good until the next call.
  [[nodiscard]] std::span<Repeat const> find(std::span<std::byte const> in, Plan const& plan);
  [[nodiscard]] Doubt doubt() const noexcept;  // of the last call

 private:
  struct Found {
    std::uint32_t at, distance;
    std::uint32_t length;  // 0 once it is seen that others save more
    std::int32_t gain;  // bits saved, roughly
  };
  struct Tally {
    std::size_t noise_places = 0, noise_candidates = 0;  // looked at
    std::size_t half_places = 0, half_candidates = 0;  // likewise, where every other byte is noise
    std::size_t shorter = 0;  // repeats taken that are not long
    std::size_t medium = 0, longer = 0;  // of these, of eight bytes and more, and of sixteen
    std::size_t aligned = 0;  // likewise, as far back as the one before: from the row above, and not by chance
  };

  void start(std::span<std::byte const> in, Plan const& plan);
  [[nodiscard]] RepeatTable table();
  [[nodiscard]] HighByteTable high_table();
  void collect(std::size_t from, std::size_t to);
  template <std::size_t long_bytes>
  void look_up_all(std::size_t from, std::size_t to);
  void look_up_half(std::size_t from, std::size_t to);
  void look_up_some(std::size_t from, std::size_t to);
  void verify(std::size_t end, std::size_t limit);
  void weigh(std::size_t from, std::size_t to);
  [[nodiscard]] bool has_few_in_half() const noexcept;
  [[nodiscard]] bool is_half_noise(std::size_t from, std::size_t to) const noexcept;
  void look_up_high(std::size_t first, std::size_t count);  // high bytes
  void weigh_high(std::size_t count);
  void choose_high(std::size_t first, std::size_t count);
  void take_high(std::size_t limit);
  void take(std::size_t limit);
  [[nodiscard]] Repeat* room_for_repeats();
  void keep(std::span<Repeat const> taken, std::size_t covered) noexcept;
  void count(std::span<Repeat const> taken) noexcept;

  std::byte const* in_ = nullptr;
  std::size_t size_ = 0, shortest_ = kShortest;
  std::size_t covered_ = 0;  // the end of what has been taken
  std::uint32_t place_mask_ = 0;
  unsigned index_bits_ = 0, high_index_bits_ = 0;
  std::vector<std::uint32_t> places_;  // of a RepeatTable
  std::vector<std::uint32_t> high_places_;  // of a HighByteTable
  Noise half_ = Noise::none;  // of the last chunk that was looked at segment by segment: what nearly all of it is
  std::vector<std::uint32_t> distances_;  // by high byte of the chunk: as HighByteTable gives them
  std::vector<std::uint64_t> better_;  // a bit likewise, from the lowest of the first on: weigh_high()
  std::vector<RepeatCandidate> candidates_;
  RepeatCandidate* candidates_end_ = nullptr;
  std::vector<Found> found_;
  Found* found_end_ = nullptr;
  std::vector<std::int32_t> saved_;  // by place in the chunk: the most bits that can be saved from there on, or there
  std::vector<Repeat> repeats_;
  std::size_t repeat_count_ = 0;
  Tally tally_;
};

}  // namespace terrazzo::codec
