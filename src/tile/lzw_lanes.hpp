// SPDX-License-Identifier: Apache-2.0
//
// LZW of data that hardly repeat, three pieces side by side in one thread. Whether the next byte makes a string that is
// in the table cannot be predicted there, and each look waits for the one before: so the looks of three pieces, a Clear
// between two of them, are taken turn by turn and without branches. 1.5 times as fast as tile/lzw_encode.cpp's table
// (uint16 with predictor 2 and float32 elevations with predictor 3, Zen 4); four pieces are no faster, two are slower.
//
// The price is size: pieces leave a table unfinished, and of the strings of one bucket only two are remembered. What
// repeats at a distance, as rows do, pays most for the first, for its strings are long only late in a table: the lanes
// leave such data. Together 0.2 % more for those two, up to 0.6 % in what was made to be difficult (rows that repeat
// with a fifth changed, floats of few exponents), 1 % where rows that repeat follow noise in the same pieces.
#pragma once

#include "tile/lzw_codes.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace terrazzo::tile {

inline constexpr std::size_t kLzwLanes = 3;

// Bytes of a piece. With fewer, the tables that are not filled at the end of each would show in the size; with more,
// streams that wait to be appended would not stay in a core's cache.
inline constexpr std::size_t kLzwLeastLaneBytes = 32768;
inline constexpr std::size_t kLzwMostLaneBytes = 131072;

// Data with more bytes to a code than this are not for the lanes: fewer looks surprise there, runs can be passed, and
// what a table has learned is worth keeping.
inline constexpr double kLzwMostLaneBytesPerCode = 2.5;

// The tables of one thread, 620 KB. What was encoded before does not show in the stream.
class LzwLanes {
 public:
  LzwLanes() noexcept;

  // The bytes that encode() should be given next when `left` are to be encoded, one of which it leaves; 0: too few.
  [[nodiscard]] static std::size_t bytes_of(std::size_t left) noexcept;

  // Whether data are for the lanes as far as one full table shows, which took so many bytes, and so many with the first
  // half of its codes; `left` as above.
  [[nodiscard]] static bool suits(std::size_t table_bytes, std::size_t half_table_bytes, std::size_t left) noexcept;

  // Puts the codes of `in`, bytes_of() of them, and a Clear behind them; a Clear was put last. False where there are
  // too many bytes to a code or the tables that the pieces leave unfinished cost too much: nothing was put.
  [[nodiscard]] bool encode(std::span<std::byte const> in, LzwCodeWriter& out) noexcept;

 private:
  // An entry is generation << 20 | byte << 12 | code. Its prefix follows from byte and bucket. Generations are tables
  // of one lane: the entries of former ones count as empty, so that a table need not be cleared. Two entries a bucket:
  // the first stays, the second is the newest. Behind all of them is one that is written to where there is nothing to
  // keep.
  struct Lane {
    std::array<std::uint64_t, 256> keys;  // by byte: an entry without its code, for both of a bucket
    std::array<std::uint32_t, 2 * kLzwBuckets + 1> entries;
    std::array<std::uint16_t, kLzwCodesPerTable> codes;  // of this table, before they are packed
    std::uint32_t generation;

    [[nodiscard]] std::byte const* bucket(std::uint64_t slot) const noexcept {
      return reinterpret_cast<std::byte const*>(this) + offsetof(Lane, entries) + 2 * sizeof(entries[0]) * slot;
    }
    void forget() noexcept;  // all generations
    void start_table() noexcept;
  };
  struct State;

  static void step(Lane& lane, State& state, std::byte next) noexcept;
  void start_table(std::size_t lane, State& state) noexcept;
  void take(std::byte const* in, std::size_t lane_bytes, std::size_t count,
            std::array<State, kLzwLanes>& states) noexcept;

  std::array<Lane, kLzwLanes> lanes_;
  // Of all pieces but the first, whose codes go where they belong. A code of 12 bits a byte; Clears are fewer than
  // codes of less. A writer writes beyond the end.
  std::array<std::array<std::byte, kLzwMostLaneBytes / 2 * 3 + 16>, kLzwLanes - 1> streams_;
};

}  // namespace terrazzo::tile
