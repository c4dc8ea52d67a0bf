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
constexpr std::size_t kWordBits = 64;     // one bit per high byte

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

// std::bit_width() for numbers that float32 represents exactly, with instructions that have vector forms; otherwise any
// value.
std::int32_t float_width(std::uint32_t value) noexcept {
  auto const as_float = static_cast<float>(static_cast<std::int32_t>(value));
  return static_cast<std::int32_t>(std::bit_cast<std::uint32_t>(as_float) >> 23) - 126;
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
  high_index_bits_ = std::clamp(place_bits, kLeastIndexBits, HighByteTable::kMostIndexBits);
  places_.clear();
  high_places_.clear();
  // A position has at most three candidates; the last ones are read and written, but not counted.
  candidates_.resize(3 * kChunkBytes + kAhead + 2);
  found_.resize(candidates_.size());
  saved_.resize(kFill + kChunkBytes + 1);
  distances_.resize(kChunkBytes / 2);
  better_.resize(kChunkBytes / 2 / kWordBits);
  half_ = Noise::none;
}

// Most blocks need only one of the tables: each is zero-filled at its first lookup.
RepeatTable RepeatFinder::table() {
  if (places_.empty()) { places_.assign(std::size_t{2} << index_bits_, 0); }
  return {in_, places_, place_mask_, shortest_};
}

HighByteTable RepeatFinder::high_table() {
  if (high_places_.empty()) { high_places_.assign(std::size_t{1} << high_index_bits_, 0); }
  return {in_, high_places_, place_mask_};
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

// Searches high bytes, in their own table, and in the table of all positions once that has entries.
void RepeatFinder::look_up_half(std::size_t from, std::size_t to) {
  bool const has_others = !places_.empty();
  RepeatTable const all(in_, places_, place_mask_, shortest_);
  HighByteTable const high = high_table();
  std::size_t const last = size_ - kReadBytes;
  RepeatCandidate* found = candidates_end_;
  for (std::size_t at = from; at < std::min(to, last + 1); at += 2) {
    std::size_t const soon = std::min(at + 2 * kAhead, last);
    __builtin_prefetch(high.entry_of(soon), 1);
    std::uint32_t const distance = high.look_up(at);
    std::uint32_t const is_some = distance <= place_mask_ ? 1 : 0;
    *found = {static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at) - distance};
    found += is_some;
    tally_.half_candidates += is_some;
    if (has_others) {
      __builtin_prefetch(all.pair_of(all.hash(soon)), 1);
      found = all.look_up(at, found);
    }
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

// Decides, from a sample of its segments, whether the chunk is like the previous one: high bytes whose repeats are
// short.
bool RepeatFinder::is_half_noise(std::size_t from, std::size_t to) const noexcept {
  bool const are_short = tally_.medium <= kMediumChance + tally_.shorter / 256;
  if (half_ == Noise::none || !are_short || to - from != kChunkBytes || has_few_in_half()) { return false; }
  constexpr std::size_t kSampleStep = 5;  // segments: samples different parts of the tile's rows
  std::size_t others = 0;
  for (std::size_t at = from; at < to; at += kSampleStep * kNoiseSegmentBytes) {
    others += noise_of(in_ + at) != half_ ? 1 : 0;
  }
  return others <= 1;
}

void RepeatFinder::collect(std::size_t from, std::size_t to) {
  candidates_end_ = candidates_.data();
  if (size_ < kReadBytes) { return; }
  std::size_t first_of_two = 0, second_of_two = 0;  // number of segments
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
      ++(noise == Noise::first_of_two ? first_of_two : second_of_two);
    }
  }
  std::size_t const most = (to - from) / kNoiseSegmentBytes * 3 / 4;
  half_ = first_of_two > most ? Noise::first_of_two : second_of_two > most ? Noise::second_of_two : Noise::none;
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

// For chunks of high bytes and noise only: the distance from each high byte to the last position with its bytes.
void RepeatFinder::look_up_high(std::size_t first, std::size_t count) {
  HighByteTable const table = high_table();
  std::size_t const ahead = first + 2 * (count + kAhead) <= size_ - kReadBytes ? 2 * kAhead : 0;
  std::uint32_t* const distances = distances_.data();
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t const at = first + 2 * i;
    __builtin_prefetch(table.entry_of(at + ahead), 1);
    distances[i] = table.look_up(at);
  }
}

// Like weigh(), but before the bytes are compared, and as if all repeats had five bytes: nearly all do, and take_high()
// handles the others. Five bytes end before the third high byte after theirs, so the gain from there on is in
// registers. Sets a bit for each repeat that is better than the best gain without it.
void RepeatFinder::weigh_high(std::size_t count) {
  std::uint32_t const* const distances = distances_.data();
  std::uint32_t const no_distance = ~place_mask_;
  std::int32_t* const gains = saved_.data();
  for (std::size_t i = 0; i < count; ++i) {
    std::int32_t const gain = kLiteralBits * static_cast<std::int32_t>(kShortest) - float_width(distances[i]);
    gains[i] = gain | -static_cast<std::int32_t>((distances[i] & no_distance) != 0);  // -1 if there is none
  }
  std::int32_t next = 0, second = 0, third = 0;
  for (std::size_t end = count; end != 0;) {
    std::size_t const word = (end - 1) / kWordBits;
    std::uint64_t better = 0;
    for (; end != word * kWordBits; --end) {
      std::int32_t const with = gains[end - 1] + third;
      better = 2 * better + (static_cast<std::uint32_t>(next - with) >> 31);  // a comparison would become a branch
      third = second;
      second = next;
      next = std::max(next, with);
    }
    better_[word] = better;
  }
}

// Chooses, from the first on, each of the better repeats that begins after the previous chosen one.
void RepeatFinder::choose_high(std::size_t first, std::size_t count) {
  std::size_t skipped = covered_ > first ? (covered_ - first + 1) / 2 : 0;
  RepeatCandidate* chosen = candidates_.data();
  for (std::size_t word = skipped / kWordBits; word * kWordBits < count; ++word) {
    std::uint32_t const* const distances = distances_.data() + word * kWordBits;
    std::uint64_t better = better_[word] & ~std::uint64_t{0} << skipped % kWordBits;
    skipped = 0;
    while (better != 0) {
      auto const i = static_cast<std::size_t>(std::countr_zero(better));
      auto const at = static_cast<std::uint32_t>(first + 2 * (word * kWordBits + i));
      *chosen = {at, at - distances[i]};
      __builtin_prefetch(in_ + chosen->from);
      ++chosen;
      better &= ~std::uint64_t{7} << i;
      skipped = std::max(i + 3, kWordBits) - kWordBits;
    }
  }
  candidates_end_ = chosen;
  tally_.half_places += count;
}

// Like verify() and take(), for the repeats of choose_high().
void RepeatFinder::take_high(std::size_t limit) {
  Repeat* const first = room_for_repeats();
  Repeat* repeat = first;
  std::size_t covered = covered_;
  for (RepeatCandidate const* candidate = candidates_.data(); candidate != candidates_end_; ++candidate) {
    auto const [at, from] = *candidate;
    std::uint64_t const differ = load_eight(in_ + at) ^ load_eight(in_ + from);
    auto length = static_cast<std::uint32_t>(std::countr_zero(differ)) / 8;
    if (differ == 0) {
      length += static_cast<std::uint32_t>(common_length(in_ + at + length, in_ + from + length, limit - at - length));
    }
    auto const is_taken = static_cast<std::uint32_t>(length >= kShortest) & static_cast<std::uint32_t>(at >= covered);
    *repeat = {at - from, static_cast<std::uint32_t>(at - covered), length};
    repeat += is_taken;
    covered = is_taken != 0 ? at + length : covered;
  }
  tally_.half_candidates += static_cast<std::size_t>(repeat - first);
  keep({first, repeat}, covered);
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
      if (is_half_noise(at, end)) {
        std::size_t const first = half_ == Noise::first_of_two ? at + 1 : at;
        std::size_t const count = (std::min(end, part_end - kReadBytes) - first) / 2;
        look_up_high(first, count);
        weigh_high(count);
        choose_high(first, count);
        take_high(part_end);
      } else {
        collect(at, end);
        verify(end, part_end);
        weigh(at, end);
        take(part_end);
      }
      bool const is_sure = tally_.noise_places >= kEnoughPlaces || end == part_end || doubt() == Doubt::great;
      if (is_sure && doubt() > plan.allowed) { return {}; }
    }
    repeats_[repeat_count_++] = {.literals = static_cast<std::uint32_t>(part_end - covered_)};
    covered_ = part_end;
  }
  return std::span(repeats_).first(repeat_count_);
}

}  // namespace terrazzo::codec
