// SPDX-License-Identifier: Apache-2.0
#include "codec/deflate/noise_deflate.hpp"

#include "codec/matches/noise.hpp"
#include "codec/matches/noise_scan.hpp"

#include <algorithm>
#include <bit>

namespace terrazzo::codec {

namespace {

// Codes adapt to changes along a block: with twice this size, 16-bit samples without a predictor grow by 0.6 %.
constexpr std::size_t kBlockBytes = std::size_t{128} << 10;
constexpr std::size_t kTailBytes = kLongestMatch + 32;  // at the end, without matches: no read past the input
constexpr std::size_t kShortestInNoise = 16;
constexpr int kFirstThoroughLevel = 7;

bool is_partly_noise(std::span<std::byte const> in) noexcept {
  constexpr std::size_t kSampleStep = 7;  // segments; prime, so that the sample covers all planes
  std::size_t seen = 0, noise = 0;
  for (std::size_t at = 0; at + kNoiseSegmentBytes <= in.size(); at += kSampleStep * kNoiseSegmentBytes) {
    ++seen;
    noise += is_noise(in.data() + at) ? 1 : 0;
  }
  return static_cast<double>(noise) >= kLeastNoiseShare * static_cast<double>(seen);
}

}  // namespace

void NoiseDeflate::start(std::span<std::byte const> in) noexcept {
  in_ = in.data();
  search_end_ = in.size() - kTailBytes;
  literals_from_ = 0;
  at_ = 1;  // the first position that the tables accept
  matches_.clear();
  missed_.start();
}

// REQUIRES: `at` is in the table, and later positions are not.
template <class Table>
void NoiseDeflate::take(Table& table, std::size_t at, FoundMatch match) {
  std::size_t const step = match.length > kShortestInNoise ? 4 : 1;  // long runs need not be inserted at every position
  std::size_t const insert_end = std::min(at + match.length, search_end_);
  for (std::size_t i = at + 1; i < insert_end; i += step) { table.insert(in_, i); }
  std::size_t from = at, end = at + match.length;
  while (from > literals_from_ && from > match.distance && in_[from - 1] == in_[from - 1 - match.distance]) { --from; }
  while (match.length == kLongestMatch && end < search_end_) {
    match.length = common_length(in_ + end, in_ + end - match.distance);
    end += match.length;
  }
  // Split into valid match lengths: three bytes or more, at most kLongestMatch.
  std::size_t literals = from - literals_from_;
  for (std::size_t left = end - from; left > 0; literals = 0) {
    std::size_t const length = left > kLongestMatch ? std::min(kLongestMatch, left - 3) : left;
    matches_.push_back({static_cast<std::uint32_t>(literals), static_cast<std::uint16_t>(length),
                        static_cast<std::uint16_t>(match.distance - 1)});
    left -= length;
  }
  at_ = literals_from_ = end;
}

template <class Table>
void NoiseDeflate::search_structure(Table& table, bool is_lazy, std::size_t end) {
  std::size_t const stop = std::min(end, search_end_);
  std::size_t at = at_;
  while (at < stop) {
    FoundMatch match = table.find(in_, at);
    if (match.distance == 0) {
      ++at;
      continue;
    }
    if (is_lazy && match.length < Table::kLongEnough / 2) {
      FoundMatch const next = table.find(in_, ++at);
      // Either match starts at `at`: take() extends it backwards over equal bytes.
      match = next.length > match.length ? next : FoundMatch{match.length - 1, match.distance};
    }
    take(table, at, match);
    at = at_;
  }
  at_ = at;
}

template <class Table>
void NoiseDeflate::probe_noise(Table& table, std::size_t end) {
  std::size_t const stop = std::min(end, search_end_);
  for (std::size_t at = at_; at < stop; at = std::max(at + kProbedBytes, at_)) {
    std::uint32_t places = probe_places(in_ + at);
    if (stop - at < kProbedBytes) { places &= (1U << (stop - at)) - 1; }
    for (; places != 0; places &= places - 1) {
      std::size_t const place = at + static_cast<std::size_t>(std::countr_zero(places));
      FoundMatch const match = table.find_long(in_, place);
      if (match.length >= kShortestInNoise) {
        take(table, place, match);
        break;
      }
    }
  }
}

template <class Table>
std::size_t NoiseDeflate::encode_with(Table& table, bool is_lazy, std::span<std::byte const> in,
                                      std::span<std::byte> out) {
  start(in);
  table.clear();
  DeflateBlockWriter writer(out);
  std::size_t block_from = 0;
  for (std::size_t segment = 0; block_from < in.size(); segment += kNoiseSegmentBytes) {
    std::size_t const end = std::min(in.size(), segment + kNoiseSegmentBytes);
    if (at_ < end) {
      if (end - segment == kNoiseSegmentBytes && is_noise(in_ + segment)) {
        probe_noise(table, end);
      } else {
        search_structure(table, is_lazy, end);
      }
      at_ = std::max(at_, end);
    }
    bool const is_last = at_ == in.size();
    if (at_ - block_from < kBlockBytes && !is_last) { continue; }
    std::span<std::byte const> const block = in.subspan(block_from, at_ - block_from);
    if (!writer.write(block, matches_, is_last)) { return 0; }
    missed_.add(block, matches_, writer.cost());
    if (missed_.too_many(!is_last)) { return 0; }
    matches_.clear();
    block_from = literals_from_ = at_;
  }
  // A quarter of the segments hardly shrink. A smaller result means that much repeats, and libdeflate finds more of it.
  std::size_t const size = writer.finish();
  return size > in.size() / 4 ? size : 0;
}

std::size_t NoiseDeflate::encode(std::span<std::byte const> in, int level, std::span<std::byte> out) {
  constexpr std::size_t kMostInput = 0xFFFFFFFF;  // a 32-bit number counts the literals before a match
  if (level < 1 || level > kHighestLevel || in.size() < kLeastBytes || in.size() > kMostInput) { return 0; }
  if (!is_partly_noise(in)) { return 0; }
  return level < kFirstThoroughLevel ? encode_with(quick_, false, in, out) : encode_with(thorough_, true, in, out);
}

}  // namespace terrazzo::codec
