// SPDX-License-Identifier: Apache-2.0
#include "codec/matches/repeat_finder.hpp"

#include "codec/matches/common_length.hpp"
#include "codec/matches/noise_scan.hpp"

#include <algorithm>
#include <bit>

namespace terrazzo::codec {

namespace {

constexpr std::size_t kReadBytes = 8;  // read at a searched position
constexpr unsigned kLeastIndexBits = 10, kMostIndexBits = 19;
constexpr std::size_t kAhead = 24;        // positions for which memory is prefetched
constexpr std::size_t kLongEnough = 48;   // a repeat that is used without searching inside it
constexpr std::size_t kMediumBytes = 8, kLongerBytes = 16;
constexpr std::size_t kMediumChance = 16;
constexpr std::int32_t kLiteralBits = 8;  // assumed cost of a literal; the result hardly depends on it
constexpr std::size_t kEnoughPlaces = 512;  // in noise, to separate some doubt from great doubt
constexpr std::size_t kFill = 8;          // entries filled at once

bool is_run(std::uint64_t eight_bytes) noexcept { return eight_bytes == std::rotl(eight_bytes, 8); }

// Like common_length(), but without a branch on eight bytes, which would be unpredictable.
std::size_t mostly_short_length(std::byte const* a, std::byte const* b, std::size_t limit) noexcept {
  if (limit < 16) { return common_length(a, b, limit); }
  std::uint64_t const first = load_eight(a) ^ load_eight(b), second = load_eight(a + 8) ^ load_eight(b + 8);
  if ((first | second) == 0) { return 16 + common_length(a + 16, b + 16, limit - 16); }
  std::uint64_t const is_second = -static_cast<std::uint64_t>(first == 0);
  return static_cast<std::size_t>(std::countr_zero(first | (second & is_second))) / 8 + (8 & is_second);
}

// Approximate gain in bits.
std::int32_t gain_of(std::uint32_t length, std::uint32_t distance) noexcept {
  return kLiteralBits * static_cast<std::int32_t>(length) - static_cast<std::int32_t>(std::bit_width(distance | 1));
}

}  // namespace

void RepeatFinder::start(std::span<std::byte const> in, Plan const& plan) {
  in_ = in.data();
  size_ = in.size();
  shortest_ = plan.shortest;
  covered_ = repeat_count_ = 0;
  tally_ = {};
  unsigned const place_bits = std::max(1U, static_cast<unsigned>(std::bit_width(size_ - 1)));
  place_mask_ = (1U << place_bits) - 1;
  // As many entries as there are pairs of bytes. Half of that if half of the bytes are noise: the table then stays in
  // the cache, which saves 5 % of the time and costs 0.02 % in size.
  unsigned const fewer_bits = plan.has_planes ? 3 : 2;
  index_bits_ = std::clamp(place_bits - std::min(place_bits, fewer_bits), kLeastIndexBits, kMostIndexBits);
  places_.clear();
  // A position has at most three candidates; the last ones are read and written, but not counted.
  candidates_.resize(3 * kChunkBytes + kAhead + 2);
  found_.resize(candidates_.size());
  saved_.resize(kFill + kChunkBytes + 1);
}

// Zero-filled at the first lookup.
RepeatTable RepeatFinder::table() {
  if (places_.empty()) { places_.assign(std::size_t{2} << index_bits_, 0); }
  return {in_, places_, place_mask_, shortest_};
}

// Searches every position, but only the ends of runs of one byte.
template <std::size_t long_bytes>
void RepeatFinder::look_up_all(std::size_t from, std::size_t to) {
  RepeatTable const table = this->table();
  std::size_t const last = size_ - std::max(kReadBytes, long_bytes);
  std::size_t const end = std::min(to, last + 1);
  RepeatCandidate* found = candidates_end_;
  for (std::size_t at = from; at < end; ++at) {
    std::size_t const soon = std::min(at + kAhead, last);
    __builtin_prefetch(table.pair_of(table.hash(soon)), 1);  // inline: in a separate function, compilers omit it
    if constexpr (long_bytes != 0) {
      __builtin_prefetch(table.pair_of(table.long_hash<long_bytes>(soon)), 1);
      found = table.look_up_long<long_bytes>(at, found);
    } else {
      found = table.look_up(at, found);
    }
    if (!is_run(load_eight(in_ + at))) { continue; }
    std::size_t const length = common_length(in_ + at + 1, in_ + at, end - 1 - at);
    if (length <= shortest_) { continue; }
    *found++ = {static_cast<std::uint32_t>(at + 1), static_cast<std::uint32_t>(at)};
    at += length - shortest_;
  }
  candidates_end_ = found;
}

// Searches high bytes only: between bytes of noise, nearly every position has a repeat by chance.
void RepeatFinder::look_up_half(std::size_t from, std::size_t to) {
  RepeatTable const table = this->table();
  std::size_t const last = size_ - kReadBytes;
  RepeatCandidate* found = candidates_end_;
  for (std::size_t at = from; at < std::min(to, last + 1); at += 2) {
    std::size_t const soon = std::min(at + 2 * kAhead, last);
    __builtin_prefetch(table.pair_of(table.hash(soon)), 1);
    RepeatCandidate* const next = table.look_up(at, found);
    tally_.half_candidates += next != found ? 1 : 0;
    found = next;
  }
  tally_.half_places += (to - from) / 2;
  candidates_end_ = found;
}

void RepeatFinder::look_up_some(std::size_t from, std::size_t to) {
  RepeatTable const table = this->table();
  std::size_t const places_before = tally_.noise_places;
  RepeatCandidate* found = candidates_end_;
  for (std::size_t at = from; at + kProbedBytes <= to && at + kProbedBytes + kReadBytes <= size_; at += kProbedBytes) {
    // A plane that begins or ends in the segment.
    if (is_run(load_eight(in_ + at)) && is_run(load_eight(in_ + at + kReadBytes))) {
      *found++ = {static_cast<std::uint32_t>(at + 1), static_cast<std::uint32_t>(at)};  // counts as found in noise
      continue;
    }
    for (std::uint32_t chosen = probe_places(in_ + at); chosen != 0; chosen &= chosen - 1) {
      found = table.look_up(at + static_cast<std::size_t>(std::countr_zero(chosen)), found);
      ++tally_.noise_places;
    }
  }
  // Noise has positions to probe in nearly every segment; a segment without any repeats within a few dozen bytes.
  if (tally_.noise_places == places_before && found == candidates_end_) { return look_up_all<0>(from, to); }
  tally_.noise_candidates += static_cast<std::size_t>(found - candidates_end_);
  candidates_end_ = found;
}

// If so few are found among so many, as in radar images, the rest has no more: one in a thousand is chance.
bool RepeatFinder::has_few_in_half() const noexcept {
  return tally_.half_places > 30'000 && tally_.half_candidates < tally_.half_places / 200;
}

void RepeatFinder::collect(std::size_t from, std::size_t to) {
  candidates_end_ = candidates_.data();
  if (size_ < kReadBytes) { return; }
  bool const half_is_noise = has_few_in_half();
  // The lower the entropy, the longer the repeats, and the less useful are the last positions with few equal bytes:
  // then the last position with eight or sixteen is better. If few repeats are that long, two candidates of fewer bytes
  // are.
  auto const look_up_rest = tally_.longer > kMediumChance + tally_.shorter / 8    ? &RepeatFinder::look_up_all<16>
                            : tally_.medium > kMediumChance + tally_.shorter / 24 ? &RepeatFinder::look_up_all<8>
                                                                                  : &RepeatFinder::look_up_all<0>;
  for (std::size_t at = from; at < to; at += kNoiseSegmentBytes) {
    std::size_t const end = std::min(to, at + kNoiseSegmentBytes);
    if (end <= covered_) { continue; }
    Noise const noise = end - at == kNoiseSegmentBytes ? noise_of(in_ + at) : Noise::none;
    if (noise == Noise::none) {
      (this->*look_up_rest)(at, end);
    } else if (noise == Noise::all || half_is_noise) {
      look_up_some(at, end);
    } else {
      look_up_half(noise == Noise::first_of_two ? at + 1 : at, end);
    }
  }
}

void RepeatFinder::verify(std::size_t end, std::size_t limit) {
  std::size_t covered = covered_;
  Found* found = found_.data();
  for (RepeatCandidate const* candidate = candidates_.data(); candidate != candidates_end_; ++candidate) {
    __builtin_prefetch(in_ + candidate[kAhead].from);  // past the last one: harmless
    auto [at, from] = *candidate;
    if (at < covered && from + 1 == at && covered < end) {  // the rest of a run
      at = static_cast<std::uint32_t>(covered);
      from = at - 1;
    }
    if (at < covered || from >= at) { continue; }
    std::size_t const length = mostly_short_length(in_ + at, in_ + from, limit - at);
    if (length >= kLongEnough) { covered = at + length; }
    std::uint32_t const distance = at - from;
    auto const as_found = static_cast<std::uint32_t>(length);
    *found = {at, distance, as_found, gain_of(as_found, distance)};
    found += length >= shortest_ ? 1 : 0;
  }
  found_end_ = found;
}

// From the last to the first, with the best total gain from there on.
void RepeatFinder::weigh(std::size_t from, std::size_t to) {
  std::int32_t* const saved = saved_.data() + kFill;
  std::int32_t most = 0;
  std::size_t filled = to - from;
  for (Found* found = found_end_; found != found_.data();) {
    --found;
    std::size_t const at = found->at - from;
    std::fill_n(saved + filled + 1 - kFill, kFill, most);
    for (; filled > at + kFill; filled -= kFill) { std::fill_n(saved + filled + 1 - 2 * kFill, kFill, most); }
    filled = at;
    std::int32_t const with = found->gain + saved[std::min(at + found->length, to - from)];
    found->length &= -static_cast<std::uint32_t>(with > most);
    most = std::max(most, with);
  }
}

// Room for the repeats of a chunk: one more is written than used, and one ends a part.
Repeat* RepeatFinder::room_for_repeats() {
  std::size_t const most = repeat_count_ + kChunkBytes / shortest_ + 3;
  if (repeats_.size() < most) { repeats_.resize(most); }
  return repeats_.data() + repeat_count_;
}

void RepeatFinder::keep(std::span<Repeat const> taken, std::size_t covered) noexcept {
  repeat_count_ += taken.size();
  covered_ = covered;
  count(taken);
}

// Without branches that depend on the repeats: half of them would be mispredicted.
void RepeatFinder::take(std::size_t limit) {
  Repeat* const first = room_for_repeats();
  Repeat* repeat = first;
  std::size_t covered = covered_;
  for (Found const* found = found_.data(); found != found_end_; ++found) {
    std::size_t at = found->at;
    std::uint32_t const length = found->length, distance = found->distance;
    std::size_t end = at + length;
    auto const is_taken = static_cast<std::uint32_t>(length != 0) & static_cast<std::uint32_t>(at >= covered);
    if (length >= kLongEnough && is_taken != 0) {  // may have been found in its middle, or not compared to its end
      while (at > covered && at > distance && in_[at - 1] == in_[at - 1 - distance]) { --at; }
      end += common_length(in_ + end, in_ + end - distance, limit - end);
    }
    *repeat = {distance, static_cast<std::uint32_t>(at - covered), static_cast<std::uint32_t>(end - at)};
    repeat += is_taken;
    covered = is_taken != 0 ? end : covered;
  }
  keep({first, repeat}, covered);
}

void RepeatFinder::count(std::span<Repeat const> taken) noexcept {
  std::uint32_t shorter = 0, medium = 0, longer = 0, aligned = 0;
  std::uint32_t distance = 0;
  for (Repeat const& repeat : taken) {
    bool const is_shorter = repeat.length < kLongEnough;
    aligned += is_shorter && repeat.distance == distance ? 1 : 0;
    distance = repeat.distance;
    shorter += is_shorter ? 1 : 0;
    medium += is_shorter && repeat.length >= kMediumBytes ? 1 : 0;
    longer += is_shorter && repeat.length >= kLongerBytes ? 1 : 0;
  }
  tally_.shorter += shorter;
  tally_.medium += medium;
  tally_.longer += longer;
  tally_.aligned += aligned;
}

// Of 270 sets of tiles of the corpus and 100 synthetic ones, those that become more than 1 % larger than with libzstd's
// level 9 exceed these limits, and predicted elevations and reflectances do not.
RepeatFinder::Doubt RepeatFinder::doubt() const noexcept {
  constexpr std::size_t kChance = 8;
  bool const is_small = shortest_ < kShortest;
  std::size_t const one_in = is_small ? 25 : 50;  // shorter ones are found by chance more often
  if (tally_.noise_candidates > kChance + tally_.noise_places / 8) { return Doubt::great; }
  // Rows that resemble the one above contain many repeats that this search misses, especially between bytes of noise.
  std::size_t const aligned_in = tally_.half_places > kEnoughPlaces ? 400 : 64;
  if (tally_.aligned > kMediumChance + tally_.shorter / aligned_in) { return Doubt::great; }
  bool const noise_repeats = tally_.noise_candidates > kChance + tally_.noise_places / one_in;
  bool const many_are_longer =
      tally_.longer > kMediumChance + (is_small ? tally_.shorter / 16 : 2 * tally_.shorter / 3);
  return noise_repeats || many_are_longer ? Doubt::some : Doubt::none;
}

std::span<Repeat const> RepeatFinder::find(std::span<std::byte const> in, Plan const& plan) {
  start(in, plan);
  for (std::size_t part = 0; part < size_; part += plan.part_bytes) {
    std::size_t const part_end = std::min(size_, part + plan.part_bytes);
    for (std::size_t at = part; at < part_end; at += kChunkBytes) {
      std::size_t const end = std::min(part_end, at + kChunkBytes);
      collect(at, end);
      verify(end, part_end);
      weigh(at, end);
      take(part_end);
      bool const is_sure = tally_.noise_places >= kEnoughPlaces || end == part_end || doubt() == Doubt::great;
      if (is_sure && doubt() > plan.allowed) { return {}; }
    }
    repeats_[repeat_count_++] = {.literals = static_cast<std::uint32_t>(part_end - covered_)};
    covered_ = part_end;
  }
  return std::span(repeats_).first(repeat_count_);
}

}  // namespace terrazzo::codec
