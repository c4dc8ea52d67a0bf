// SPDX-License-Identifier: Apache-2.0
//
// A level of a compression library is a wish for a size. On predicted samples a lower level often gives that size in a
// fraction of the time, because repeats are few and short. So the levels are tried on a sample of each block, and the
// cheapest level that is about as small as the wanted one encodes the block. Deterministic: depends only on the input.
#pragma once

#include "base/scratch.hpp"

#include <cstddef>
#include <cstring>
#include <span>

namespace terrazzo::codec {

// Smaller blocks are encoded with the wanted level.
inline constexpr std::size_t kLeastTriedBytes = std::size_t{64} << 10;

// Two pieces of the block, side by side, at a quarter and at three quarters; `bytes` in all. One piece misjudges
// charts, whose flat areas are larger. REQUIRES: at least kLeastTriedBytes in the block, at most half as many in the
// sample.
[[nodiscard]] inline std::span<std::byte const> sample_for_trial(std::span<std::byte const> block, std::size_t bytes,
                                                                 Scratch& memory) {
  constexpr std::size_t kPieces = 2, kAlignment = 512;
  std::size_t const piece_bytes = bytes / kPieces;
  std::span<std::byte> const sample = memory.get(kPieces * piece_bytes);
  for (std::size_t piece = 0; piece < kPieces; ++piece) {
    std::size_t const middle = block.size() / kPieces * piece + block.size() / kPieces / 2;
    std::size_t const from = (middle - piece_bytes / 2) / kAlignment * kAlignment;
    std::memcpy(sample.data() + piece * piece_bytes, block.data() + from, piece_bytes);
  }
  return sample;
}

// True if a level says something about the block. Samples that shrink to less than a third lie in flat areas: what the
// search costs and gains is elsewhere. `size` is that of the encoded sample.
[[nodiscard]] inline bool is_telling(std::size_t size, std::span<std::byte const> sample) noexcept {
  return size >= sample.size() / 3;
}

// `size` and `wanted` are sizes of the encoded sample.
[[nodiscard]] inline bool is_about_as_small(std::size_t size, std::size_t wanted, double allowed) noexcept {
  return size != 0 && static_cast<double>(size) <= allowed * static_cast<double>(wanted);
}

}  // namespace terrazzo::codec
