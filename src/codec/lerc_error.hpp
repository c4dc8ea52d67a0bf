// SPDX-License-Identifier: Apache-2.0
//
// Floats that are decimals of few places, or integers, need fewer bits than the error they may have makes one think: a
// step of 0.1 keeps tenths where one of 0.02, for an error of 0.01, is five times as fine and no better.
#pragma once

#include <cstddef>
#include <span>

namespace terrazzo::codec {

// Those of one picture; NaN only where the pixel is not valid.
template <class Float>
struct LercSamples {
  std::span<std::byte const> bytes{};    // interleaved, of any alignment
  std::span<std::byte const> valid{};    // a byte a pixel; empty: all are
  std::size_t depth = 1;
};

// The error for the blob's header, `max_error` or more: half the coarsest step of decimals on whose multiples all
// samples lie, half of `max_error` aside, so that none comes back more than `max_error` away. At least one pixel is
// valid.
template <class Float>
[[nodiscard]] double raise_lerc_error(LercSamples<Float> const& samples, double max_error) noexcept;

}  // namespace terrazzo::codec
