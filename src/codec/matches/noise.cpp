// SPDX-License-Identifier: Apache-2.0
#include "codec/matches/noise.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace terrazzo::codec {

// Uses the sum of squares of the counts: n bytes of e bits of (collision) entropy give about n + n * n / 2^e. Half of
// the bytes are counted.
Noise noise_of(std::byte const* segment) noexcept {
  // Half of the bytes are equal, as in planes of high bytes: the count below would also find no noise, but is slowest
  // there.
  constexpr std::size_t kFrom = kNoiseSegmentBytes / 4, kSame = kNoiseSegmentBytes / 2;
  if (std::memcmp(segment + kFrom, segment + kFrom + 1, kSame - 1) == 0) { return Noise::none; }
  constexpr std::size_t kRun = 16;
  std::array<std::array<std::int16_t, 256>, 2> counts{};
  for (std::size_t run = 0; run < kNoiseSegmentBytes; run += 2 * kRun) {
    for (std::size_t i = run; i < run + kRun; i += 2) {
      ++counts[0][std::to_integer<std::size_t>(segment[i])];
      ++counts[1][std::to_integer<std::size_t>(segment[i + 1])];
    }
  }
  // Signed 16-bit factors, which compilers multiply and add eight at a time.
  std::int32_t even = 0, odd = 0, product = 0;
  for (std::size_t i = 0; i < 256; ++i) {
    std::int16_t const a = counts[0][i], b = counts[1][i];
    even += a * a;
    odd += b * b;
    product += a * b;
  }
  std::int32_t const both = even + odd + 2 * product;
  constexpr std::int32_t kBothLimit = 2'800;  // 256 bytes of 4.7 bits
  // 128 bytes of 7.5 bits: with less entropy, the neighbouring byte depends on them, and repeats of both are
  // worthwhile.
  constexpr std::int32_t kHalfLimit = 216;
  if (both < kBothLimit) { return Noise::all; }
  if (std::min(even, odd) >= kHalfLimit) { return Noise::none; }
  return even < odd ? Noise::first_of_two : Noise::second_of_two;
}

NoiseShare noise_share(std::span<std::byte const> block) noexcept {
  constexpr std::size_t kLeastBytes = std::size_t{64} << 10;
  constexpr std::size_t kSampleStep = 7;  // segments; prime, so that the sample covers all planes
  if (block.size() < kLeastBytes) { return {}; }
  std::size_t seen = 0, every_other = 0, all = 0;
  for (std::size_t at = 0; at + kNoiseSegmentBytes <= block.size(); at += kSampleStep * kNoiseSegmentBytes) {
    Noise const noise = noise_of(block.data() + at);
    ++seen;
    every_other += noise == Noise::first_of_two || noise == Noise::second_of_two ? 1 : 0;
    all += noise == Noise::all ? 1 : 0;
  }
  return {static_cast<double>(every_other) / static_cast<double>(seen),
          static_cast<double>(all) / static_cast<double>(seen)};
}

}  // namespace terrazzo::codec
