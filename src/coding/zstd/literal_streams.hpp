// SPDX-License-Identifier: Apache-2.0
//
// Decodes the streams of a ZSTD block's literals (RFC 8878, 4.2.2) with a team of threads, on host and device.
//
// Each stream is cut into stretches, one for each of its lanes, which starts at a guessed bit; then every lane starts
// again at the true end of its left neighbour, until no start changes (as in coding/deflate/inflate.hpp). A lane that
// meets a place of its earlier way stops there.
#pragma once

#include "base/host_device.hpp"
#include "coding/team/stream_words.hpp"
#include "coding/team/team.hpp"
#include "coding/zstd/backward_bits.hpp"
#include "coding/zstd/literal_code.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace terrazzo::coding {

// The stretches of the streams of literals. Places are counted in bits from the beginning of a stream, its last bit.
struct ZstdStretches {
  static constexpr std::uint32_t kStreams = 4;
  static constexpr std::uint32_t kMarks = 7;

  BackwardExtent streams[kStreams];
  std::uint32_t firsts[kStreams], counts_of_streams[kStreams];  // of the literals of each stream
  std::uint32_t starts[kTeamLanes], next_starts[kTeamLanes], ends[kTeamLanes];
  std::uint32_t counts[kTeamLanes];  // of literals
  // The first code behind each eighth of a stretch: its distance from there, and above 8 bits the literals before it.
  std::uint32_t marks[kMarks][kTeamLanes];
  static constexpr std::uint32_t kNoMark = 0xFFFFFFFF;
};

template <class Team>
class ZstdLiteralStreams {
 public:
  TERRAZZO_HOST_DEVICE ZstdLiteralStreams(Team const& team, ZstdStretches& stretches, LaneSums& sums,
                                          LiteralCode const& code, StreamWords const& input, std::byte* out) noexcept
      : team_(team), stretches_(stretches), sums_(sums), code_(code), input_(input), scratch_(out) {}

  // Decodes the streams that `stretches` describes, with so many lanes each. True if each has as many literals as it
  // should, and ends with its last bit. All lanes call it.
  [[nodiscard]] TERRAZZO_HOST_DEVICE bool decode(std::uint32_t lanes) noexcept {
    synchronise(lanes);
    return put_stretches(lanes);
  }

 private:
  // A lane's part of a stream: its codes from the first that begins at `begin` or behind it, and before `limit`.
  struct Stretch {
    BackwardExtent const& stream;
    std::uint32_t begin, limit, step;  // `step`: between marks
    bool is_first, is_last;
  };
  [[nodiscard]] TERRAZZO_HOST_DEVICE Stretch stretch_of(std::uint32_t lane, std::uint32_t lanes) const noexcept {
    BackwardExtent const& stream = stretches_.streams[lane / lanes];
    std::uint32_t const index = lane % lanes;
    // No code is as long as the shortest step.
    constexpr std::uint32_t kLeastStep = 16, kSteps = ZstdStretches::kMarks + 1;
    std::uint32_t const share = (stream.bits + lanes - 1) / lanes;
    std::uint32_t const step = share < kLeastStep * kSteps ? kLeastStep : (share + kSteps - 1) / kSteps;
    std::uint32_t const begin = index * step * kSteps, limit = begin + step * kSteps;
    return {stream, begin, limit < stream.bits ? limit : stream.bits, step, index == 0, index + 1 == lanes};
  }

  // Decodes a stretch from starts[lane], for its end and the number of its literals. `has_marks`: of an earlier way.
  TERRAZZO_HOST_DEVICE void measure(std::uint32_t lane, Stretch const& stretch, bool has_marks) noexcept {
    ZstdStretches& all = stretches_;
    std::uint32_t const start = all.starts[lane];
    std::uint32_t count = 0, mark = 0, mark_at = stretch.begin + stretch.step;
    BackwardBits bits(input_, stretch.stream, start < stretch.limit ? start : stretch.limit);
    while (bits.taken() < stretch.limit) {
      bits.fill();
      bits.skip(code_.entries[bits.peek(LiteralCode::kMostBits)] & 0xFF);
      ++count;
      if (bits.taken() < mark_at || mark == ZstdStretches::kMarks) { continue; }
      std::uint32_t const behind = bits.taken() - mark_at, earlier = all.marks[mark][lane];
      if (has_marks && earlier != ZstdStretches::kNoMark && (earlier & 0xFF) == behind) {
        // From here on this is the earlier way.
        std::uint32_t const more = count - (earlier >> 8);
        all.counts[lane] += more;
        for (; mark < ZstdStretches::kMarks; ++mark) {
          if (all.marks[mark][lane] != ZstdStretches::kNoMark) { all.marks[mark][lane] += more << 8; }
        }
        return;
      }
      all.marks[mark++][lane] = count << 8 | behind;
      mark_at += stretch.step;
    }
    for (; mark < ZstdStretches::kMarks; ++mark) { all.marks[mark][lane] = ZstdStretches::kNoMark; }
    all.counts[lane] = count;
    all.ends[lane] = start < stretch.limit ? bits.taken() : start;
  }

  // Finds the true starts of all stretches.
  TERRAZZO_HOST_DEVICE void synchronise(std::uint32_t lanes) noexcept {
    ZstdStretches& all = stretches_;
    team_.each([&](std::uint32_t lane) {
      Stretch const stretch = stretch_of(lane, lanes);
      all.starts[lane] = stretch.begin < stretch.stream.bits ? stretch.begin : stretch.stream.bits;
      measure(lane, stretch, false);
    });
    // Each round makes at least one more start of each stream right.
    for (std::uint32_t round = 1; round < lanes; ++round) {
      team_.each([&](std::uint32_t lane) {
        Stretch const stretch = stretch_of(lane, lanes);
        std::uint32_t const end = stretch.is_first ? 0 : all.ends[lane - 1];
        all.next_starts[lane] = end < stretch.stream.bits ? end : stretch.stream.bits;
      });
      bool const has_changed = team_.any([&](std::uint32_t lane) {
        if (all.next_starts[lane] == all.starts[lane]) { return false; }
        all.starts[lane] = all.next_starts[lane];
        measure(lane, stretch_of(lane, lanes), true);
        return true;
      });
      if (!has_changed) { return; }
    }
  }

  // Writes all literals to the scratch memory, if each stream has as many as it should, and ends with its last bit.
  [[nodiscard]] TERRAZZO_HOST_DEVICE bool put_stretches(std::uint32_t lanes) noexcept {
    ZstdStretches const& all = stretches_;
    std::uint32_t const* const sums = sums_.of(team_, all.counts);
    auto const sum_before = [&](std::uint32_t lane) { return lane == 0 ? 0 : sums[lane - 1]; };
    bool const is_bad = team_.any([&](std::uint32_t lane) {
      Stretch const stretch = stretch_of(lane, lanes);
      if (all.ends[lane] > stretch.stream.bits) { return true; }
      if (!stretch.is_last) { return false; }
      std::uint32_t const count = sums[lane] - sum_before(lane + 1 - lanes);
      return all.ends[lane] != stretch.stream.bits || count != all.counts_of_streams[lane / lanes];
    });
    if (is_bad) { return false; }
    team_.each([&](std::uint32_t lane) {
      Stretch const stretch = stretch_of(lane, lanes);
      std::uint32_t const before = sum_before(lane) - sum_before(lane / lanes * lanes);
      put_literals(stretch, all.starts[lane], all.counts[lane], scratch_ + all.firsts[lane / lanes] + before);
    });
    return true;
  }

  // Four at a time, because a store takes as long for one byte as for four.
  TERRAZZO_HOST_DEVICE void put_literals(Stretch const& stretch, std::uint32_t start, std::uint32_t count,
                                         std::byte* out) const noexcept {
    BackwardBits bits(input_, stretch.stream, start);
    auto const next = [&] {
      std::uint32_t const entry = code_.entries[bits.peek(LiteralCode::kMostBits)];
      bits.skip(entry & 0xFF);
      return entry >> 8;
    };
    std::uint32_t i = 0;
    auto const put_one = [&] {
      bits.fill();
      out[i++] = static_cast<std::byte>(next());
    };
    while (i < count && reinterpret_cast<std::uintptr_t>(out + i) % 4 != 0) { put_one(); }
    for (; i + 4 <= count; i += 4) {
      bits.fill();
      std::uint32_t word = next();
      word |= next() << 8;
      bits.fill();
      word |= next() << 16;
      word |= next() << 24;
      std::memcpy(__builtin_assume_aligned(out + i, 4), &word, 4);
    }
    while (i < count) { put_one(); }
  }

  Team const& team_;
  ZstdStretches& stretches_;
  LaneSums& sums_;
  LiteralCode const& code_;
  StreamWords const& input_;
  std::byte* const scratch_;
};

}  // namespace terrazzo::coding
