// SPDX-License-Identifier: Apache-2.0
#include "codec/repeat_finder.hpp"

#include "codec/noise.hpp"
#include "codec/noise_scan.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace terrazzo::codec {

namespace {

constexpr std::size_t kReadBytes = 8;  // at a place that is looked at
constexpr unsigned kLeastIndexBits = 10, kMostIndexBits = 19;
constexpr std::size_t kAhead = 24;        // places, for which memory is asked for early
constexpr std::size_t kLongEnough = 48;   // a repeat that is taken without looking at those inside it
constexpr std::size_t kMediumBytes = 8;
constexpr std::int32_t kLiteralBits = 8;  // what a literal costs; little depends on it
constexpr std::size_t kEnoughPlaces = 512;  // in noise, to tell some doubt from great
constexpr std::size_t kFill = 8;          // places that are filled at once

std::uint64_t load64(std::byte const* from) noexcept {
  std::uint64_t value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

std::size_t common_length(std::byte const* a, std::byte const* b, std::size_t limit) noexcept {
  std::size_t length = 0;
  for (; length + 8 <= limit; length += 8) {
    std::uint64_t const differ = load64(a + length) ^ load64(b + length);
    if (differ != 0) { return length + static_cast<std::size_t>(std::countr_zero(differ)) / 8; }
  }
  while (length < limit && a[length] == b[length]) { ++length; }
  return length;
}

}  // namespace

// What looking up needs, in registers.
struct RepeatFinder::Table {
  std::byte const* in;
  std::uint64_t* places;
  unsigned index_shift, tag_bits;
  unsigned unused_bits;  // of the eight bytes at a place: those behind the ones that are hashed

  Table(RepeatFinder& finder, std::size_t hashed_bytes) noexcept
      : in(finder.in_),
        places(finder.places_.data()),
        index_shift(finder.index_shift_),
        tag_bits(finder.tag_bits_),
        unused_bits(static_cast<unsigned>(64 - 8 * hashed_bytes)) {}

  // The highest bits are the best mixed.
  [[nodiscard]] std::uint64_t hash(std::size_t at) const noexcept {
    return (load64(in + at) << unused_bits) * 0x9E3779B185EBCA87U;
  }
  void prefetch(std::size_t at) const noexcept { __builtin_prefetch(places + (hash(at) >> index_shift), 1); }

  // Leaves `at` in the table. Candidates are written in any case and counted if they are some.
  [[nodiscard]] Candidate* look_up(std::size_t at, Candidate* to) const noexcept {
    std::uint64_t const mixed = hash(at);
    std::uint64_t& last_two = places[mixed >> index_shift];
    std::uint64_t const old = last_two;
    std::uint32_t const tag_mask = (1U << tag_bits) - 1;
    auto const tag = static_cast<std::uint32_t>(mixed >> (index_shift - tag_bits)) & tag_mask;
    auto const newer = static_cast<std::uint32_t>(old), older = static_cast<std::uint32_t>(old >> 32);
    auto const place = static_cast<std::uint32_t>(at);
    *to = {place, newer >> tag_bits};
    to += (newer & tag_mask) == tag ? 1 : 0;
    *to = {place, older >> tag_bits};
    to += (older & tag_mask) == tag ? 1 : 0;
    last_two = old << 32 | place << tag_bits | tag;
    return to;
  }
};

void RepeatFinder::start(std::span<std::byte const> in, std::size_t shortest) {
  in_ = in.data();
  size_ = in.size();
  shortest_ = shortest;
  covered_ = repeat_count_ = 0;
  tally_ = {};
  unsigned const place_bits = std::max(1U, static_cast<unsigned>(std::bit_width(size_ - 1)));
  tag_bits_ = 32 - place_bits;
  // As many places as there are pairs of bytes: high bytes of 16-bit samples all find room.
  unsigned const index_bits = std::clamp(place_bits, kLeastIndexBits + 2, kMostIndexBits + 2) - 2;
  index_shift_ = 64 - index_bits;
  places_.assign(std::size_t{1} << index_bits, 0);
  // Of a place come at most three candidates; the last ones are read and written, and not counted.
  candidates_.resize(3 * kChunkBytes + kAhead + 2);
  found_.resize(candidates_.size());
  saved_.resize(kFill + kChunkBytes + 1);
}

bool RepeatFinder::is_run(std::size_t at) const noexcept {
  std::uint64_t const bytes = load64(in_ + at);
  return bytes == std::rotl(bytes, 8);
}

// Every place, but of runs of one byte only the ends.
void RepeatFinder::look_up_all(std::size_t from, std::size_t to) {
  Table const table(*this, shortest_);
  std::size_t const last = size_ - kReadBytes;
  std::size_t const end = std::min(to, last + 1);
  Candidate* found = candidates_end_;
  for (std::size_t at = from; at < end; ++at) {
    table.prefetch(std::min(at + kAhead, last));
    found = table.look_up(at, found);
    if (!is_run(at)) { continue; }
    std::size_t const length = common_length(in_ + at + 1, in_ + at, end - 1 - at);
    if (length <= shortest_) { continue; }
    *found++ = {static_cast<std::uint32_t>(at + 1), static_cast<std::uint32_t>(at)};
    at += length - shortest_;
  }
  candidates_end_ = found;
}

void RepeatFinder::look_up_half(std::size_t from, std::size_t to) {
  Table const table(*this, kShortest);
  std::size_t const last = size_ - kReadBytes;
  Candidate* found = candidates_end_;
  for (std::size_t at = from; at < std::min(to, last + 1); at += 2) {
    table.prefetch(std::min(at + 2 * kAhead, last));
    found = table.look_up(at, found);
  }
  tally_.half_places += (to - from) / 2;
  tally_.half_candidates += static_cast<std::size_t>(found - candidates_end_);
  candidates_end_ = found;
}

void RepeatFinder::look_up_some(std::size_t from, std::size_t to) {
  Table const table(*this, shortest_);
  std::size_t const places_before = tally_.noise_places;
  Candidate* found = candidates_end_;
  for (std::size_t at = from; at + kProbedBytes <= to && at + kProbedBytes + kReadBytes <= size_; at += kProbedBytes) {
    if (is_run(at) && is_run(at + kReadBytes)) {  // of a plane that begins or ends in the segment
      *found++ = {static_cast<std::uint32_t>(at + 1), static_cast<std::uint32_t>(at)};  // counts as found in noise
      continue;
    }
    for (std::uint32_t chosen = probe_places(in_ + at); chosen != 0; chosen &= chosen - 1) {
      found = table.look_up(at + static_cast<std::size_t>(std::countr_zero(chosen)), found);
      ++tally_.noise_places;
    }
  }
  // Noise has something to probe in nearly every segment; what has nothing repeats itself within a few dozen bytes.
  if (tally_.noise_places == places_before && found == candidates_end_) { return look_up_all(from, to); }
  tally_.noise_candidates += static_cast<std::size_t>(found - candidates_end_);
  candidates_end_ = found;
}

void RepeatFinder::collect(std::size_t from, std::size_t to) {
  candidates_end_ = candidates_.data();
  if (size_ < kReadBytes) { return; }
  // Where so few are found among so many, as in radar images, more do not come: one in a thousand is chance.
  bool const half_is_noise = tally_.half_places > 30'000 && tally_.half_candidates < tally_.half_places / 200;
  for (std::size_t at = from; at < to; at += kNoiseSegmentBytes) {
    std::size_t const end = std::min(to, at + kNoiseSegmentBytes);
    if (end <= covered_) { continue; }
    Noise const noise = end - at == kNoiseSegmentBytes ? noise_of(in_ + at) : Noise::none;
    if (noise == Noise::none) {
      look_up_all(at, end);
    } else if (noise == Noise::all || half_is_noise) {
      look_up_some(at, end);
    } else {
      look_up_half(noise == Noise::first_of_two ? at + 1 : at, end);
    }
  }
}

// Lengths are guessed to be under eight: most are.
void RepeatFinder::verify(std::size_t end, std::size_t limit) {
  std::size_t covered = covered_;
  Found* found = found_.data();
  for (Candidate const* candidate = candidates_.data(); candidate != candidates_end_; ++candidate) {
    __builtin_prefetch(in_ + candidate[kAhead].from);  // behind the last one: harmless
    auto [at, from] = *candidate;
    if (at < covered && from + 1 == at && covered < end && covered + kReadBytes <= size_) {  // the rest of a run
      at = static_cast<std::uint32_t>(covered);
      from = at - 1;
    }
    if (at < covered || from >= at) { continue; }
    std::uint64_t const differ = load64(in_ + at) ^ load64(in_ + from);
    std::size_t length = static_cast<std::size_t>(std::countr_zero(differ)) / 8;
    if (differ == 0) {
      length = common_length(in_ + at, in_ + from, limit - at);
      if (length >= kLongEnough) { covered = at + length; }
    }
    length = std::min(length, limit - at);
    std::uint32_t const distance = at - from;
    auto const distance_bits = static_cast<std::int32_t>(std::bit_width(distance));
    *found = {at, static_cast<std::uint32_t>(length), distance,
              kLiteralBits * static_cast<std::int32_t>(length) - distance_bits, false};
    found += length >= shortest_ ? 1 : 0;
  }
  found_end_ = found;
}

// From the last to the first, with what is saved from there on.
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
    found->is_taken = with > most;
    most = std::max(most, with);
  }
}

// Without branches that depend on what is taken: they would be guessed wrong half the time.
void RepeatFinder::take() {
  auto const most = static_cast<std::size_t>(found_end_ - found_.data());
  if (repeats_.size() < repeat_count_ + most + 2) { repeats_.resize(2 * repeats_.size() + most + 2); }
  Repeat* repeat = repeats_.data() + repeat_count_;
  std::size_t covered = covered_;
  std::uint32_t shorter = 0, medium = 0;
  for (Found const* found = found_.data(); found != found_end_; ++found) {
    std::size_t at = found->at;
    std::uint32_t const length = found->length, distance = found->distance;
    std::size_t const end = at + length;
    auto const is_taken = static_cast<std::uint32_t>(found->is_taken) & static_cast<std::uint32_t>(at >= covered);
    if (length >= kLongEnough) {  // perhaps found in its middle
      while (at > covered && at > distance && in_[at - 1] == in_[at - 1 - distance]) { --at; }
    } else {
      shorter += is_taken;
      medium += is_taken & static_cast<std::uint32_t>(length >= kMediumBytes);
    }
    *repeat = {static_cast<std::uint32_t>(at - covered), static_cast<std::uint32_t>(end - at), distance};
    repeat += is_taken;
    covered = is_taken != 0 ? end : covered;
  }
  covered_ = covered;
  repeat_count_ = static_cast<std::size_t>(repeat - repeats_.data());
  tally_.shorter += shorter;
  tally_.medium += medium;
}

// On 270 sets of tiles of the corpus and 70 made ones those that become more than 1 % larger than by libzstd's level 9
// are beyond these limits, and predicted elevations and reflectances are not.
RepeatFinder::Doubt RepeatFinder::doubt() const noexcept {
  constexpr std::size_t kChance = 8, kMediumChance = 16;
  std::size_t const one_in = shortest_ < kShortest ? 25 : 50;  // shorter ones are found by chance more often
  if (tally_.noise_candidates > kChance + tally_.noise_places / 8) { return Doubt::great; }
  bool const noise_repeats = tally_.noise_candidates > kChance + tally_.noise_places / one_in;
  bool const many_are_longer = tally_.medium > kMediumChance + tally_.shorter / 6;
  return noise_repeats || many_are_longer ? Doubt::some : Doubt::none;
}

std::span<Repeat const> RepeatFinder::find(std::span<std::byte const> in, Plan const& plan) {
  start(in, plan.shortest);
  for (std::size_t part = 0; part < size_; part += plan.part_bytes) {
    std::size_t const part_end = std::min(size_, part + plan.part_bytes);
    for (std::size_t at = part; at < part_end; at += kChunkBytes) {
      std::size_t const end = std::min(part_end, at + kChunkBytes);
      collect(at, end);
      verify(end, part_end);
      weigh(at, end);
      take();
      bool const is_sure = tally_.noise_places >= kEnoughPlaces || end == part_end || doubt() == Doubt::great;
      if (is_sure && doubt() > plan.allowed) { return {}; }
    }
    repeats_[repeat_count_++] = {static_cast<std::uint32_t>(part_end - covered_), 0, 0};
    covered_ = part_end;
  }
  return std::span(repeats_).first(repeat_count_);
}

}  // namespace terrazzo::codec
