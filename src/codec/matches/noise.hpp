// SPDX-License-Identifier: Apache-2.0
//
// Finds noise in the bytes of a block: bytes so evenly distributed that a search for repeats is wasted, such as the low
// bytes of predicted samples. Deterministic: depends only on the input bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace terrazzo::codec {

inline constexpr std::size_t kNoiseSegmentBytes = 512;  // a row of a plane of predictor 3 in a tile of 512 px

enum class Noise : std::uint8_t {
  none,
  first_of_two,  // noise in the first of every two bytes: low bytes of 16-bit samples
  second_of_two,
  all,  // planes of low bytes, as produced by predictor 3
};

// The noise of kNoiseSegmentBytes bytes.
[[nodiscard]] Noise noise_of(std::byte const* segment) noexcept;

// Shares of the segments, estimated from a sample; 0 if there are too few.
struct NoiseShare {
  double every_other = 0, all = 0;
};
[[nodiscard]] NoiseShare noise_share(std::span<std::byte const> block) noexcept;

// A block with a smaller share is treated as ordinary data.
inline constexpr double kLeastNoiseShare = 0.25;

}  // namespace terrazzo::codec
