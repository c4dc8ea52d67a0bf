// SPDX-License-Identifier: Apache-2.0
//
// Floats that are decimals of few places, or integers, need fewer bits than their allowed error suggests: a step of 0.1
// keeps tenths, while a step of 0.02, for an error of 0.01, is five times as fine and no better.
#pragma once

#include <cstddef>
#include <span>

namespace terrazzo::codec {

// The samples of one picture; NaN only in invalid pixels.
template <class Float>
struct LercSamples {
  std::span<std::byte const> bytes{};  // interleaved, of any alignment
  std::span<std::byte const> valid{};  // one byte per pixel; empty: all are valid
  std::size_t depth = 1;
};

// The error for the blob's header, `max_error` or more: half of the coarsest decimal step such that all samples are
// within half of `max_error` of its multiples, so that no decoded sample is off by more than `max_error`. REQUIRES: at
// least one valid pixel.
template <class Float>
[[nodiscard]] double raise_lerc_error(LercSamples<Float> const& samples, double max_error) noexcept;

}  // namespace terrazzo::codec
