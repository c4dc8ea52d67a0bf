// SPDX-License-Identifier: Apache-2.0
//
// LZW for data with few repetitions, three pieces interleaved in one thread. In such data, whether the next byte
// extends a string in the table is unpredictable, and each lookup depends on the previous one. So the lookups of three
// pieces, separated by Clears, are interleaved and free of branches. 1.5 times as fast as the table of
// coding/lzw/encode.cpp (uint16 with predictor 2 and float32 elevations with predictor 3, Zen 4); four pieces are no
// faster, two are slower.
//
// The price is size: each piece leaves a table unfinished, and a bucket keeps only two of its strings. The first costs
// most for data that repeat at a distance, as rows do, because their strings become long only late in a table: the
// lanes reject such data. Together the two cost 0.2 % for the data above, up to 0.6 % for data made to be difficult
// (rows that repeat with a fifth changed, floats of few exponents), 1 % if repeating rows follow noise in the same
// pieces.
#pragma once

#include "coding/lzw/codes.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace terrazzo::coding {

inline constexpr std::size_t kLzwLanes = 3;

// Bytes of a piece. With fewer, the unfinished table at the end of each piece would show in the size; with more,
// streams that wait to be appended would exceed a core's cache.
inline constexpr std::size_t kLzwLeastLaneBytes = 32768;
inline constexpr std::size_t kLzwMostLaneBytes = 131072;

// Data with more bytes per code are not for the lanes: lookups are more predictable there, runs can be handled at once,
// and the contents of a table are worth keeping.
inline constexpr double kLzwMostLaneBytesPerCode = 2.5;

// The tables of one thread, 620 KB. The stream is independent of earlier calls.
class LzwLanes {
 public:
  LzwLanes() noexcept;

  // The number of bytes for the next encode() if `left` remain, at least one of which it leaves; 0: too few.
  [[nodiscard]] static std::size_t bytes_of(std::size_t left) noexcept;

  // True if data suit the lanes, judged by one full table: the bytes that it took, and the bytes of the first half of
  // its codes; `left` as above.
  [[nodiscard]] static bool suits(std::size_t table_bytes, std::size_t half_table_bytes, std::size_t left) noexcept;

  // Writes the codes of `in`, bytes_of() bytes, and a Clear after them. REQUIRES: a Clear was written last. Returns
  // false, and writes nothing, if there are too many bytes per code or the unfinished tables of the pieces cost too
  // much.
  [[nodiscard]] bool encode(std::span<std::byte const> in, LzwCodeWriter& out) noexcept;

 private:
  // An entry is generation << 20 | byte << 12 | code. Byte and bucket determine its prefix. Generations are tables of
  // one lane: entries of earlier generations count as empty, so that a table need not be cleared. Two entries per
  // bucket: the first stays, the second is the newest. After all buckets there is a dummy entry for stores without
  // effect.
  struct Lane {
    std::array<std::uint64_t, 256> keys;  // by byte: an entry without its code, for both halves of a bucket
    std::array<std::uint32_t, 2 * kLzwBuckets + 1> entries;
    std::array<std::uint16_t, kLzwCodesPerTable> codes;  // codes of this table, before packing
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
  // Streams of all pieces except the first, whose codes go straight to the output. A code of 12 bits per byte; Clears
  // are fewer than shorter codes. A writer writes beyond the end.
  std::array<std::array<std::byte, kLzwMostLaneBytes / 2 * 3 + 16>, kLzwLanes - 1> streams_;
};

}  // namespace terrazzo::coding
