// SPDX-License-Identifier: Apache-2.0
//
// The three loops over the samples of a LERC micro-block: measure, quantise, stuff. Portable versions; kernels_avx2.hpp
// has versions that give the same bits.
#pragma once

#include "codec/lerc/put.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace terrazzo::codec {

inline constexpr std::size_t kLercLargestBlock = 16 * 16;
inline constexpr std::size_t kLercLanes = 8;

// Bytes that stuffing may write beyond its end.
inline constexpr std::size_t kLercStuffSlack = 16;

// The valid samples of one block in order. Samples of 8 and 16 bits are stored as int32.
template <class Work>
struct LercBlock {
  alignas(32) std::array<Work, kLercLanes + kLercLargestBlock + kLercLanes> memory{};
  std::size_t count = 0;

  [[nodiscard]] Work* samples() noexcept { return memory.data() + kLercLanes; }
  [[nodiscard]] Work const* samples() const noexcept { return memory.data() + kLercLanes; }  // [-1] is 0
};

template <class Work>
struct LercExtent {
  Work low{}, high{};
  std::size_t repeats = 0;  // samples equal to the previous one; the first is compared with 0
};

using LercSteps = std::array<std::uint32_t, kLercLargestBlock + kLercLanes>;

// Always inlined, so that a caller compiled for AVX2 gets them in AVX2.
struct LercPortableKernels {
  // REQUIRES: at least one sample. If both zeros occur, the result may be either.
  template <class Work>
  [[nodiscard, gnu::always_inline]] static LercExtent<Work> measure(LercBlock<Work> const& block) noexcept {
    Work const* const samples = block.samples();
    Work const* const before = samples - 1;
    std::array<Work, kLercLanes> low, high;
    low.fill(samples[0]);
    high.fill(samples[0]);
    std::array<std::uint32_t, kLercLanes> repeats{};
    std::size_t i = 0;
    for (; i + kLercLanes <= block.count; i += kLercLanes) {
      for (std::size_t k = 0; k < kLercLanes; ++k) {
        Work const value = samples[i + k];
        low[k] = value < low[k] ? value : low[k];
        high[k] = value > high[k] ? value : high[k];
        repeats[k] += value == before[i + k] ? 1U : 0U;
      }
    }
    LercExtent<Work> extent{low[0], high[0], 0};
    for (std::size_t k = 0; k < kLercLanes; ++k) {
      extent.low = std::min(extent.low, low[k]);
      extent.high = std::max(extent.high, high[k]);
      extent.repeats += repeats[k];
    }
    for (; i < block.count; ++i) { add_sample(extent, samples[i], before[i]); }
    return extent;
  }

  // Steps above `low`, for integers with error 0.5, whose steps have size 1.
  template <class Work>
  [[gnu::always_inline]] static void count_units(LercBlock<Work> const& block, Work low, LercSteps& steps) noexcept {
    for (std::size_t i = 0; i < block.count; ++i) {
      steps[i] = static_cast<std::uint32_t>(block.samples()[i]) - static_cast<std::uint32_t>(low);
    }
    pad(block.count, steps);
  }

  // The inverse of the decoders' arithmetic, which determines the error: in double, rounded half up. REQUIRES: all
  // samples are less than 2^31 steps above `low`.
  template <class Work>
  [[gnu::always_inline]] static void quantise(LercBlock<Work> const& block, Work low, double steps_per_unit,
                                              LercSteps& steps) noexcept {
    auto const base = static_cast<double>(low);
    for (std::size_t i = 0; i < block.count; ++i) {
      steps[i] = static_cast<std::uint32_t>(
          static_cast<std::int32_t>((static_cast<double>(block.samples()[i]) - base) * steps_per_unit + 0.5));
    }
    pad(block.count, steps);
  }

  // Packs `bits` bits of each, 1 to 31, the first in the lowest; `steps` is padded as above. Returns the end.
  [[nodiscard, gnu::always_inline]] static std::byte* stuff(std::uint32_t const* steps, std::size_t count,
                                                            unsigned bits, std::byte* to) noexcept {
    std::byte* const end = to + (count * bits + 7) / 8;
    // As many together as fit in 64 bits with a part of the previous byte.
    if (bits <= 14) {
      stuff_together<4>(steps, count, bits, to);
    } else if (bits <= 28) {
      stuff_together<2>(steps, count, bits, to);
    } else {
      stuff_together<1>(steps, count, bits, to);
    }
    return end;
  }

  template <class Work>
  static void add_sample(LercExtent<Work>& extent, Work value, Work last) noexcept {
    extent.low = std::min(extent.low, value);
    extent.high = std::max(extent.high, value);
    extent.repeats += value == last ? 1 : 0;
  }

  // Stuffing works in groups of eight.
  static void pad(std::size_t count, LercSteps& steps) noexcept {
    for (std::size_t i = 0; i < kLercLanes; ++i) { steps[count + i] = 0; }
  }

 private:
  template <unsigned Together>
  [[gnu::always_inline]] static void stuff_together(std::uint32_t const* steps, std::size_t count, unsigned bits,
                                                    std::byte* to) noexcept {
    std::uint64_t pending = 0;  // bits of the byte at `to`
    unsigned pending_bits = 0;
    for (std::size_t i = 0; i < count; i += Together) {
      std::uint64_t group = steps[i];
      for (unsigned k = 1; k < Together; ++k) { group |= std::uint64_t{steps[i + k]} << k * bits; }
      pending |= group << pending_bits;
      static_cast<void>(put_little(to, pending));
      unsigned const whole = (pending_bits + Together * bits) / 8;
      pending_bits = (pending_bits + Together * bits) % 8;
      pending = whole == 8 ? 0 : pending >> 8 * whole;
      to += whole;
    }
  }
};

}  // namespace terrazzo::codec
