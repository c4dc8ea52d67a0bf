// SPDX-License-Identifier: Apache-2.0
//
// Finds matches for Deflate with many threads at once. The result is independent of their timing.
//
// The bytes are in a window: the history, then the piece. Positions are processed in steps; all positions of a step
// search a table of the positions before the step, and are inserted afterwards. A slot of the table keeps the highest
// position inserted in it, for any order of insertions. So the matches depend only on the bytes.
//
// Positions are inserted in the slots of their bucket in turn, so that a bucket has candidates of several ages; several
// lanes share them. The lanes also try the shortest distances, which are runs and whole pixels: they are common in
// rasters, and the table does not contain them yet.
#pragma once

#include "coding/deflate/format.hpp"

namespace terrazzo::coding {

// Measured with pieces of 32 KiB on ten kinds of rasters: no history costs 0.1 % (elevations) to 1.6 % (float32 without
// predictor), 8 KiB cost at most 0.2 %, and 32 KiB would allow only two blocks per multiprocessor instead of four.
inline constexpr std::uint32_t kDeflateHistoryBytes = 8192;
inline constexpr std::uint32_t kDeflatePieceBytes = 32768;
inline constexpr std::uint32_t kDeflateWindowTail = 64;  // zeros after the piece: words are read whole
inline constexpr std::uint32_t kDeflateWindowBytes = kDeflateHistoryBytes + kDeflatePieceBytes + kDeflateWindowTail;
inline constexpr std::uint32_t kDeflateWindowWords = kDeflateWindowBytes / 4;
// Allows four blocks per multiprocessor. Twice as many slots would save 0.2 % (elevations) to 0.8 % (pictures) for
// rasters, 4 to 8 % for text.
inline constexpr std::uint32_t kDeflateSlots = 3200;

// The search compares matches up to this length; matches that are used are followed to their end. 64 is not better than
// 24 for rasters: of longer matches, the nearest is best.
inline constexpr std::uint32_t kDeflateLookBytes = 24;
// Distances that are always tried.
inline constexpr std::uint32_t kDeflateNearest = 8;

// The bytes of a piece and before it. Positions are byte indices into `words`.
struct DeflateWindow {
  std::uint32_t const* words;
  std::uint32_t oldest;  // the first byte that a match may copy
  std::uint32_t end;  // end of the piece, which begins at kDeflateHistoryBytes

  // Four bytes from any position on, the first lowest.
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t word_at(std::uint32_t position) const noexcept {
    std::uint32_t const low = words[position / 4], high = words[position / 4 + 1];
#if defined(__CUDA_ARCH__)
    return __funnelshift_r(low, high, position % 4 * 8);
#else
    return static_cast<std::uint32_t>((std::uint64_t{high} << 32 | low) >> (position % 4 * 8));
#endif
  }
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t byte_at(std::uint32_t position) const noexcept {
    return words[position / 4] >> (position % 4 * 8) & 0xFFU;
  }

  // The number of bytes from `position` on that equal those `distance` before; the first `from` of them are known to.
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t common_length(std::uint32_t position, std::uint32_t distance,
                                                                 std::uint32_t from,
                                                                 std::uint32_t longest) const noexcept {
    for (std::uint32_t length = from; length < longest; length += 4) {
      std::uint32_t const differ = word_at(position + length) ^ word_at(position + length - distance);
      if (differ != 0) {
        length += trailing_zeros(differ) / 8;
        return length < longest ? length : longest;
      }
    }
    return longest;
  }
};

// The best match at a position in one word, so that the best of several is the greatest: its saving, then its
// proximity. 0: none. Matches have at least shortest_match_at() bytes, so the score is positive.
struct DeflateMatchKey {
  std::uint32_t key = 0;

  DeflateMatchKey() = default;
  TERRAZZO_HOST_DEVICE explicit DeflateMatchKey(std::uint32_t word) noexcept : key(word) {}
  TERRAZZO_HOST_DEVICE DeflateMatchKey(std::uint32_t length, std::uint32_t distance) noexcept
      : key((kLengthScore * length - distance_score(distance)) << 16 | (0xFFFFU - distance)) {}

  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t score() const noexcept { return key >> 16; }
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t distance() const noexcept { return 0xFFFFU - (key & 0xFFFFU); }
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t length() const noexcept {
    return (score() + distance_score(distance())) / kLengthScore;
  }

 private:
  // Value of one more byte, in bits of distance: of 2, 3, 4, 5, 6, 8 and 16, 4 gave the smallest files, up to 8 %
  // smaller than 16. Bytes that match anywhere are mostly those with short literals.
  static constexpr std::uint32_t kLengthScore = 4;
  // Approximates the bits of the distance.
  [[nodiscard]] TERRAZZO_HOST_DEVICE static std::uint32_t distance_score(std::uint32_t distance) noexcept {
    return distance <= 4 ? 4 : 2 + bits_of(distance - 1);
  }
};

// The shortest match that usually takes fewer bits than its literals; `nearest` at the shortest distances.
[[nodiscard]] TERRAZZO_HOST_DEVICE inline std::uint32_t shortest_match_at(
    std::uint32_t distance, std::uint32_t nearest = kDeflateShortestMatch) noexcept {
  return distance <= kDeflateNearest ? nearest : distance < 4096 ? 4 : 5;
}

// Lanes per position by level: more lanes search more candidates, and positions are inserted in the table sooner. With
// 1, 2 and 4 lanes, 512 px tiles of float32 with predictor 3 shrink to 0.549, 0.543 and 0.540 of their size (zlib's
// levels 1, 6 and 9: 0.562, 0.530 and 0.526), text to 0.341, 0.317 and 0.306; for other rasters the difference is
// within 5 %.
inline constexpr int kDeflateFirstMiddleLevel = 4, kDeflateFirstThoroughLevel = 7;
[[nodiscard]] constexpr std::uint32_t deflate_lanes(int level) noexcept {
  return level < kDeflateFirstMiddleLevel ? 1 : level < kDeflateFirstThoroughLevel ? 2 : 4;
}

// The table: kDeflateSlots words, initially zeros.
template <std::uint32_t kLanes>
struct DeflateTable {
  static constexpr std::uint32_t kWays = kLanes == 1 ? 1 : 2;  // slots that a lane searches
  static constexpr std::uint32_t kBucketSlots = kLanes * kWays;
  static constexpr std::uint32_t kBuckets = kDeflateSlots / kBucketSlots;
  // Positions per step; all of them use the same slot of their buckets.
  static constexpr std::uint32_t kStep = 256 / kLanes;

  // The first slot of the bucket for these four bytes.
  [[nodiscard]] TERRAZZO_HOST_DEVICE static std::uint32_t bucket_of(std::uint32_t word) noexcept {
    std::uint32_t const mixed = word * 0x9E3779B1U;
#if defined(__CUDA_ARCH__)
    return __umulhi(mixed, kBuckets) * kBucketSlots;
#else
    return static_cast<std::uint32_t>(std::uint64_t{mixed} * kBuckets >> 32) * kBucketSlots;
#endif
  }
  TERRAZZO_HOST_DEVICE static void insert(std::uint32_t* slots, std::uint32_t bucket, std::uint32_t position) noexcept {
    together::raise(slots[bucket + position / kStep % kBucketSlots], position);
  }
};

// The search of lane `lane` of kLanes for a position: the best key of one slot and of some of the shortest distances.
// The bytes around the position are in registers, and with them all operands of the shortest distances; most positions
// of most rasters are noise and end at the first test. kShortest: the argument of shortest_match_at(), 3 or 4.
template <std::uint32_t kLanes, std::uint32_t kShortest = kDeflateShortestMatch>
class DeflateLane {
 public:
  TERRAZZO_HOST_DEVICE DeflateLane(DeflateWindow const& window, std::uint32_t position, std::uint32_t lane) noexcept
      : window_(window), position_(position), lane_(lane), shift_(position % 4 * 8) {
    std::uint32_t const* const words = window.words + position / 4;
    std::uint32_t const second = words[-1], third = words[0];
    next_ = words[1];
    before_[0] = shifted(words[-2], second, shift_);
    before_[1] = shifted(second, third, shift_);
    here_ = shifted(third, next_, shift_);
    bucket_ = DeflateTable<kLanes>::bucket_of(here_);
  }

  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t bucket() const noexcept { return bucket_; }

  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t best(std::uint32_t const* slots) const noexcept {
    std::uint32_t candidates[kWays];
    bool any = false;
    TERRAZZO_UNROLL
    for (std::uint32_t way = 0; way < kWays; ++way) {
      // An empty slot is position 0, so the oldest byte of a full history is never found.
      std::uint32_t const candidate = slots[bucket_ + lane_ * kWays + way];
      bool const same = position_ - candidate <= kDeflateFarthest && window_.word_at(candidate) == here_;
      candidates[way] = same ? candidate : 0;
      any = any || candidates[way] != 0;
    }
    std::uint32_t differ[kNears];
    TERRAZZO_UNROLL
    for (std::uint32_t i = 0; i < kNears; ++i) {
      differ[i] = here_ ^ copied(i, before_[0], before_[1], here_);
      any = any || differ[i] << (8 * (4 - kShortest)) == 0;
    }
    return any ? best_of(candidates, differ) : 0;
  }

 private:
  static constexpr std::uint32_t kWays = DeflateTable<kLanes>::kWays;
  static constexpr std::uint32_t kNears = kDeflateNearest / kLanes;
  static constexpr std::uint32_t kEnded = 0x80000000U;  // marks a length that is final

  [[nodiscard]] TERRAZZO_HOST_DEVICE static std::uint32_t shifted(std::uint32_t low, std::uint32_t high,
                                                                  std::uint32_t shift) noexcept {
#if defined(__CUDA_ARCH__)
    return __funnelshift_r(low, high, shift);
#else
    return static_cast<std::uint32_t>((std::uint64_t{high} << 32 | low) >> shift);
#endif
  }
  // This lane's distances: lane + 1, lane + 1 + kLanes and so on.
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t near_distance(std::uint32_t i) const noexcept {
    return lane_ + 1 + i * kLanes;
  }
  // The bytes at such a distance before `now`, computed from the previous eight bytes.
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t copied(std::uint32_t i, std::uint32_t before_last,
                                                          std::uint32_t last, std::uint32_t now) const noexcept {
    std::uint32_t const shift = (3 - (lane_ + i * kLanes) % 4) * 8;
    return i * kLanes < 4 ? shifted(last, now, shift) : shifted(before_last, last, shift);
  }

  // True if all compared bytes, and some after them, equal the previous byte. Then there is no better match, and the
  // full search would find it at ten times the cost, for every position of a constant tile.
  [[nodiscard]] TERRAZZO_HOST_DEVICE bool in_a_run() const noexcept {
    std::uint32_t const run = (before_[1] >> 24) * 0x01010101U;
    if (here_ != run) { return false; }
    std::uint32_t const* const words = window_.words + position_ / 4;
    std::uint32_t differ = next_ ^ run;
    TERRAZZO_UNROLL
    for (std::uint32_t i = 2; i <= (kDeflateLookBytes + 3) / 4; ++i) { differ |= words[i] ^ run; }
    return differ == 0 && position_ > window_.oldest;
  }

  // The best of the candidates, which have the same four bytes or are 0, and of the nearest, whose first four differ by
  // `differ`.
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t best_of(std::uint32_t const (&candidates)[kWays],
                                                           std::uint32_t const (&differ)[kNears]) const noexcept {
    std::uint32_t const left = window_.end - position_;
    std::uint32_t const longest = left < kDeflateLookBytes ? left : kDeflateLookBytes;
    if (left >= kDeflateLookBytes && in_a_run()) { return DeflateMatchKey(kDeflateLookBytes, 1).key; }
    bool open = false;
    std::uint32_t far_lengths[kWays], far_words[kWays];
    TERRAZZO_UNROLL
    for (std::uint32_t way = 0; way < kWays; ++way) {
      far_lengths[way] = candidates[way] != 0 ? 4 : kEnded;
      far_words[way] = window_.words[candidates[way] / 4 + 1];
      open = open || candidates[way] != 0;
    }
    std::uint32_t near_lengths[kNears];
    TERRAZZO_UNROLL
    for (std::uint32_t i = 0; i < kNears; ++i) {
      near_lengths[i] = differ[i] != 0 ? kEnded | trailing_zeros(differ[i]) / 8 : 4;
      open = open || differ[i] == 0;
    }
    std::uint32_t own_word = next_, before_last = before_[1], last = here_;
    for (std::uint32_t length = 4; open && length < longest; length += 4) {
      std::uint32_t const own_next = window_.words[position_ / 4 + 1 + length / 4];
      std::uint32_t const now = shifted(own_word, own_next, shift_);
      own_word = own_next;
      open = false;
      TERRAZZO_UNROLL
      for (std::uint32_t way = 0; way < kWays; ++way) {
        std::uint32_t const far_next = window_.words[candidates[way] / 4 + 1 + length / 4];
        far_lengths[way] = grown(far_lengths[way], now ^ shifted(far_words[way], far_next, candidates[way] % 4 * 8));
        far_words[way] = far_next;
        open = open || far_lengths[way] < kEnded;
      }
      TERRAZZO_UNROLL
      for (std::uint32_t i = 0; i < kNears; ++i) {
        near_lengths[i] = grown(near_lengths[i], now ^ copied(i, before_last, last, now));
        open = open || near_lengths[i] < kEnded;
      }
      before_last = last;
      last = now;
    }
    std::uint32_t best = 0;
    TERRAZZO_UNROLL
    for (std::uint32_t way = 0; way < kWays; ++way) {
      best = key_of(far_lengths[way] & ~kEnded, longest, position_ - candidates[way], best);
    }
    TERRAZZO_UNROLL
    for (std::uint32_t i = 0; i < kNears; ++i) {
      if (near_distance(i) <= position_ - window_.oldest) {
        best = key_of(near_lengths[i] & ~kEnded, longest, near_distance(i), best);
      }
    }
    return best;
  }
  [[nodiscard]] TERRAZZO_HOST_DEVICE static std::uint32_t grown(std::uint32_t length, std::uint32_t differ) noexcept {
    std::uint32_t const more = differ == 0 ? 4 : kEnded | trailing_zeros(differ) / 8;
    return length < kEnded ? length + more : length;
  }
  [[nodiscard]] TERRAZZO_HOST_DEVICE static std::uint32_t key_of(std::uint32_t length, std::uint32_t longest,
                                                                 std::uint32_t distance, std::uint32_t best) noexcept {
    if (length > longest) { length = longest; }
    if (length < shortest_match_at(distance, kShortest)) { return best; }
    std::uint32_t const key = DeflateMatchKey(length, distance).key;
    return key > best ? key : best;
  }

  DeflateWindow const& window_;
  std::uint32_t position_, lane_, shift_;
  std::uint32_t before_[2], here_, next_;  // bytes: eight before the position, four from it on, and the word after
  std::uint32_t bucket_;
};

// A piece is parsed in parallel segments, and no match crosses the end of a segment.
inline constexpr std::uint32_t kDeflateSegmentBytes = 4096;

// The length of the match to use at a position that the parse has reached, 0 for a literal. If the next position has a
// better match, that one is used. At most kDeflateLookBytes: the match may be longer.
[[nodiscard]] TERRAZZO_HOST_DEVICE inline std::uint32_t length_to_take(DeflateMatchKey match, DeflateMatchKey next,
                                                                       std::uint32_t left) noexcept {
  if (match.key == 0) { return 0; }
  std::uint32_t const length = match.length();
  if (left > 1 && next.score() > match.score()) { return 0; }
  std::uint32_t const most = length < left ? length : left;
  return most < kDeflateShortestMatch ? 0 : most;
}

// A token for every position of a piece: a literal, a match, or `covered` inside a match.
struct DeflateToken {
  std::uint32_t word;

  static constexpr std::uint32_t kCovered = 0xFFFFFFFF;

  [[nodiscard]] TERRAZZO_HOST_DEVICE static DeflateToken literal(std::uint32_t byte) noexcept { return {byte}; }
  [[nodiscard]] TERRAZZO_HOST_DEVICE static DeflateToken match(std::uint32_t length, std::uint32_t distance) noexcept {
    return {length << 16 | (distance - 1)};
  }
  [[nodiscard]] TERRAZZO_HOST_DEVICE bool covered() const noexcept { return word == kCovered; }
  [[nodiscard]] TERRAZZO_HOST_DEVICE bool is_literal() const noexcept { return word < 256; }
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t length() const noexcept { return word >> 16; }
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t distance() const noexcept { return (word & 0xFFFFU) + 1; }
};

}  // namespace terrazzo::coding
