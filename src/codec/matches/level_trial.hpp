// SPDX-License-Identifier: Apache-2.0
//
// `level` selects a target size. On predicted samples a lower level of a library often reaches the size of a higher one
// in a fraction of the time, because repeats are few and short. The encoders try levels on a sample of the block, and
// take the lowest that adds little. Deterministic: depends only on the block and its format.
#pragma once

#include "base/scratch.hpp"
#include "codec/matches/far_repeats.hpp"
#include "codec/registry/encoder.hpp"

#include <cstddef>
#include <cstring>
#include <span>

namespace terrazzo::codec {

// The sample is an eighth of a block at most.
inline constexpr std::size_t kTrialPieces = 4, kTrialPieceBytes = std::size_t{8} << 10;
inline constexpr std::size_t kLeastTriedBytes = 8 * kTrialPieces * kTrialPieceBytes;

// Predicted integers of 8 and 16 bits, as of images and elevations, in blocks that are large beside the sample. Floats
// of few digits, classes and texts repeat at distances that a sample does not show.
[[nodiscard]] inline bool is_tried(EncodeFormat const& format, std::size_t block_bytes) noexcept {
  tiff::SampleFormat const samples = format.block.sample_format;
  bool const is_integer = samples == tiff::SampleFormat::uint || samples == tiff::SampleFormat::int_;
  return format.is_predicted && is_integer && format.block.bits_per_sample <= 16 && block_bytes >= kLeastTriedBytes;
}

// Pieces of the block at equal distances, side by side. REQUIRES: kLeastTriedBytes.
[[nodiscard]] inline std::span<std::byte const> sample_for_trial(std::span<std::byte const> block, Scratch& memory) {
  constexpr std::size_t kAlignment = 512;
  std::span<std::byte> const sample = memory.get(kTrialPieces * kTrialPieceBytes);
  std::size_t const step = block.size() / kTrialPieces;
  for (std::size_t piece = 0; piece < kTrialPieces; ++piece) {
    std::size_t const middle = step * piece + step / 2;
    std::size_t const from = (middle - kTrialPieceBytes / 2) / kAlignment * kAlignment;
    std::memcpy(sample.data() + piece * kTrialPieceBytes, block.data() + from, kTrialPieceBytes);
  }
  return sample;
}

// False for samples that shrink to less than a third: they lie in flat areas, where levels do not differ, or differ by
// repeats longer than the sample. `size` is that of the encoded sample.
[[nodiscard]] inline bool is_typical(std::size_t size, std::span<std::byte const> sample) noexcept {
  return size >= sample.size() / 3;
}

// A level, and how much larger than the wanted level's the encoded sample may be.
struct FasterLevel {
  int level = 0;
  double allowed = 1;
};

// The first of `faster` (one or more, in ascending order) that is below `wanted` and adds little to the sample;
// otherwise `wanted`, also for blocks whose far parts repeat. size_at(level, sample) encodes the sample; 0 is an error.
template <class SizeAt>
[[nodiscard]] int choose_level(std::span<FasterLevel const> faster, int wanted, std::span<std::byte const> block,
                               Scratch& memory, SizeAt const& size_at) {
  std::span<std::byte const> const sample = sample_for_trial(block, memory);
  std::size_t size = size_at(faster.front().level, sample);
  if (!is_typical(size, sample)) { return wanted; }
  auto const wanted_size = static_cast<double>(size_at(wanted, sample));
  for (std::size_t i = 0; i < faster.size() && faster[i].level < wanted; ++i) {
    if (i != 0) { size = size_at(faster[i].level, sample); }
    if (size != 0 && static_cast<double>(size) <= faster[i].allowed * wanted_size) {
      return has_far_repeats(block) ? wanted : faster[i].level;
    }
  }
  return wanted;
}

}  // namespace terrazzo::codec
