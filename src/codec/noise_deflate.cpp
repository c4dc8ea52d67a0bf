// SPDX-License-Identifier: Apache-2.0
#include "codec/noise_deflate.hpp"

#include "codec/noise.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace terrazzo::codec {

namespace {

constexpr std::size_t kBlockBytes = std::size_t{256} << 10;
constexpr std::size_t kTailBytes = kLongestMatch + 16;  // at the end, without matches: nothing is read past the input
constexpr unsigned kHashBits = 15;
constexpr std::size_t kShortestMatch = 5;
// In noise one place in 32 is looked at, so that rows that are the same as those above them are seen. The bytes
// themselves choose it: repeats are found whatever their distance.
constexpr std::uint32_t kProbeMask = 31;
constexpr std::size_t kShortestInNoise = 16;
constexpr unsigned kProbeDepth = 4;
constexpr std::size_t kLongEnough = 64;  // a match that is not worth improving

// Places looked at for a match, by level; measured so that sizes are within half a per cent of libdeflate's.
constexpr std::array<unsigned, NoiseDeflate::kHighestLevel + 1> kDepths = {0, 2, 4, 6, 8, 10, 14, 24, 40, 64};
constexpr int kFirstLazyLevel = 7;

std::uint32_t load32(std::byte const* from) noexcept {
  std::uint32_t value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

std::uint64_t load64(std::byte const* from) noexcept {
  std::uint64_t value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

std::uint32_t mixed(std::byte const* from) noexcept { return load32(from) * 0x9E3779B1U; }

std::size_t hash_of(std::byte const* from) noexcept { return mixed(from) >> (32 - kHashBits); }

std::size_t common_length(std::byte const* a, std::byte const* b) noexcept {
  for (std::size_t length = 0; length + 8 <= kLongestMatch; length += 8) {
    std::uint64_t const differ = load64(a + length) ^ load64(b + length);
    if (differ != 0) { return length + static_cast<std::size_t>(std::countr_zero(differ)) / 8; }
  }
  std::size_t length = kLongestMatch / 8 * 8;
  while (length < kLongestMatch && a[length] == b[length]) { ++length; }
  return length;
}

}  // namespace

NoiseDeflate::NoiseDeflate() : newest_(std::size_t{1} << kHashBits), previous_(kFarthestMatch) {}

void NoiseDeflate::start(std::span<std::byte const> in, int level) {
  in_ = in.data();
  search_end_ = in.size() - kTailBytes;
  depth_ = kDepths[static_cast<std::size_t>(level)];
  lazy_ = level >= kFirstLazyLevel;
  literals_from_ = 0;
  at_ = inserted_end_ = 1;  // place 0 stands for none
  std::ranges::fill(newest_, 0U);
  matches_.clear();
}

void NoiseDeflate::insert(std::size_t at) noexcept {
  if (at < inserted_end_) { return; }
  std::uint32_t& newest = newest_[hash_of(in_ + at)];
  std::size_t const back = at - newest;
  previous_[at % kFarthestMatch] = newest == 0 || back >= kFarthestMatch ? 0 : static_cast<std::uint16_t>(back);
  newest = static_cast<std::uint32_t>(at);
  inserted_end_ = at + 1;
}

NoiseDeflate::Found NoiseDeflate::longest_match(std::size_t at, std::size_t longer_than,
                                                unsigned depth) const noexcept {
  Found best{longer_than, 0};
  std::byte const* const here = in_ + at;
  std::size_t candidate = newest_[hash_of(here)];
  for (; depth > 0 && candidate != 0 && at - candidate < kFarthestMatch; --depth) {
    std::byte const* const there = in_ + candidate;
    // The end of what would be longer is the likeliest to differ.
    if (load32(there + best.length - 3) == load32(here + best.length - 3) && load32(there) == load32(here)) {
      std::size_t const length = common_length(here, there);
      if (length > best.length) {
        best = {length, at - candidate};
        if (length >= kLongEnough) { break; }
      }
    }
    std::size_t const back = previous_[candidate % kFarthestMatch];
    if (back == 0) { break; }
    candidate -= back;
  }
  return best;
}

void NoiseDeflate::take(Found match) {
  while (at_ > literals_from_ && at_ > match.distance && match.length < kLongestMatch &&
         in_[at_ - 1] == in_[at_ - 1 - match.distance]) {
    --at_;
    ++match.length;
  }
  matches_.push_back({static_cast<std::uint32_t>(at_ - literals_from_), static_cast<std::uint16_t>(match.length),
                      static_cast<std::uint16_t>(match.distance - 1)});
  std::size_t const end = at_ + match.length;
  std::size_t const step = match.length > kShortestInNoise ? 4 : 1;  // long runs need not be found at every place
  for (std::size_t i = at_ + 1; i < std::min(end, search_end_); i += step) { insert(i); }
  at_ = literals_from_ = end;
  // What is longer than a match can be goes on at the same distance.
  while (match.length == kLongestMatch && at_ < search_end_) {
    match.length = common_length(in_ + at_, in_ + at_ - match.distance);
    if (match.length < kShortestInNoise) { return; }
    matches_.push_back({0, static_cast<std::uint16_t>(match.length), static_cast<std::uint16_t>(match.distance - 1)});
    literals_from_ = at_ += match.length;
  }
}

void NoiseDeflate::search_structure(std::size_t end) {
  while (at_ < std::min(end, search_end_)) {
    Found match = longest_match(at_, kShortestMatch - 1, depth_);
    insert(at_);
    if (match.distance == 0) {
      ++at_;
      continue;
    }
    if (lazy_ && match.length < kLongEnough / 2) {
      Found const next = longest_match(at_ + 1, match.length, depth_);
      if (next.distance != 0) {
        insert(++at_);
        match = next;
      }
    }
    take(match);
  }
}

void NoiseDeflate::probe_noise(std::size_t end) {
  std::size_t const stop = std::min(end, search_end_);
  while (at_ < stop) {
    // Bits in the middle: the highest are those of the hash.
    while (at_ < stop && (mixed(in_ + at_) >> 8 & kProbeMask) != 0) { ++at_; }
    if (at_ >= stop) { return; }
    Found const match = longest_match(at_, kShortestInNoise - 1, kProbeDepth);
    insert(at_);
    if (match.distance != 0) {
      take(match);
    } else {
      ++at_;
    }
  }
}

std::size_t NoiseDeflate::encode(std::span<std::byte const> in, int level, std::span<std::byte> out) {
  constexpr std::size_t kMostInput = 0xFFFFFFFF;  // places have 32 bits
  if (level < 1 || level > kHighestLevel || in.size() > kMostInput) { return 0; }
  NoiseShare const share = noise_share(in);
  if (share.all + share.every_other < kLeastNoiseShare) { return 0; }
  start(in, level);
  DeflateBlockWriter writer(out);
  std::size_t block_from = 0;
  for (std::size_t segment = 0; segment < in.size(); segment += kNoiseSegmentBytes) {
    std::size_t const end = std::min(in.size(), segment + kNoiseSegmentBytes);
    if (at_ < end) {
      if (end - segment == kNoiseSegmentBytes && noise_of(in_ + segment) != Noise::none) {
        probe_noise(end);
      } else {
        search_structure(end);
      }
    }
    at_ = std::max(at_, end);
    if (at_ - block_from >= kBlockBytes && at_ < in.size()) {
      if (!writer.write(in.subspan(block_from, at_ - block_from), matches_, false)) { return 0; }
      matches_.clear();
      block_from = literals_from_ = at_;
    }
  }
  if (!writer.write(in.subspan(block_from), matches_, true)) { return 0; }
  return writer.finish();
}

}  // namespace terrazzo::codec
