// SPDX-License-Identifier: Apache-2.0
//
// Where the bytes of a block are noise: spread so evenly that looking for repeats is a waste. The low bytes of
// predicted samples are. What is said depends on the bytes alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace terrazzo::codec {

inline constexpr std::size_t kNoiseSegmentBytes = 512;  // a row of a plane of predictor 3 in a tile of 512 px

enum class Noise : std::uint8_t {
  none,
  first_of_two,  // of every two bytes: low bytes of 16-bit samples
  second_of_two,
  all,  // planes of low bytes, as predictor 3 leaves them
};

// Of kNoiseSegmentBytes bytes.
[[nodiscard]] Noise noise_of(std::byte const* segment) noexcept;

// Shares of the segments, from a sample of them; 0 when there are too few.
struct NoiseShare {
  double every_other = 0, all = 0;
};
[[nodiscard]] NoiseShare noise_share(std::span<std::byte const> block) noexcept;

// With less of it, a block is treated as any other.
inline constexpr double kLeastNoiseShare = 0.25;

}  // namespace terrazzo::codec
