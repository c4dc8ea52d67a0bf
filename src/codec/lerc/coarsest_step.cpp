// SPDX-License-Identifier: Apache-2.0
#include "codec/lerc/coarsest_step.hpp"

#include "tile/host/cpu.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace terrazzo::codec {
namespace {

struct Step {
  double size, per_unit;  // inverse of each other; the second is exact
};

constexpr std::array<Step, 9> kSteps{{{1, 1},
                                      {0.5, 2},
                                      {0.1, 10},
                                      {0.05, 20},
                                      {0.01, 100},
                                      {0.005, 200},
                                      {0.001, 1000},
                                      {0.0005, 2000},
                                      {0.0001, 10000}}};

constexpr std::size_t kChunk = 64;  // samples between checks: compilers vectorize a loop without an exit
constexpr double kNoFractions = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds numbers below 2^51

// The largest distance of the scaled samples from integers. Samples that overflow are ignored.
template <class Float>
[[gnu::always_inline]] inline double off_integers(std::array<Float, kChunk> const& samples, double scale) noexcept {
  std::array<double, kChunk> off, size;
  for (std::size_t i = 0; i < kChunk; ++i) {
    double const scaled = static_cast<double>(samples[i]) * scale;
    size[i] = std::fabs(scaled);
    off[i] = std::fabs(scaled + kNoFractions - kNoFractions - scaled);
  }
  // Four at a time, because the compiler must not change the order of comparisons.
  std::array<double, 4> largest_off{}, largest{};
  for (std::size_t i = 0; i < kChunk; i += 4) {
    for (std::size_t k = 0; k < 4; ++k) {
      largest_off[k] = off[i + k] > largest_off[k] ? off[i + k] : largest_off[k];
      largest[k] = size[i + k] > largest[k] ? size[i + k] : largest[k];
    }
  }
  constexpr double kLarge = 2251799813685248.0;  // 2^51
  if (*std::ranges::max_element(largest) < kLarge) { return *std::ranges::max_element(largest_off); }
  double most = 0;
  for (Float const sample : samples) {
    double const scaled = static_cast<double>(sample) * scale;
    double const distance = std::fabs(std::floor(scaled + 0.5) - scaled);
    most = distance > most ? distance : most;
  }
  return most;
}

template <class Float>
[[gnu::always_inline]] inline bool all_on(Step const& step, LercSamples<Float> const& samples,
                                          double allowed_off) noexcept {
  std::size_t const total = samples.bytes.size() / sizeof(Float);
  std::array<Float, kChunk> chunk{};
  for (std::size_t at = 0; at < total; at += kChunk) {
    std::size_t const count = std::min(kChunk, total - at);
    if (count < kChunk) { chunk.fill(0); }
    std::memcpy(chunk.data(), samples.bytes.data() + at * sizeof(Float), count * sizeof(Float));
    if (!samples.valid.empty()) {
      std::size_t pixel = at / samples.depth, s = at % samples.depth;
      for (std::size_t i = 0; i < count; ++i) {
        if (samples.valid[pixel] == std::byte{0}) { chunk[i] = 0; }
        if (++s == samples.depth) {
          s = 0;
          ++pixel;
        }
      }
    }
    if (off_integers(chunk, step.per_unit) / step.per_unit > allowed_off) { return false; }
  }
  return true;
}

#if TERRAZZO_HAVE_X86
template <class Float>
TERRAZZO_TARGET_AVX2 bool all_on_avx2(Step const& step, LercSamples<Float> const& samples,
                                      double allowed_off) noexcept {
  return all_on(step, samples, allowed_off);
}
#endif

}  // namespace

template <class Float>
double raise_lerc_error(LercSamples<Float> const& samples, double max_error) noexcept {
  bool (*test)(Step const&, LercSamples<Float> const&, double) noexcept = &all_on<Float>;
#if TERRAZZO_HAVE_X86
  if (tile::has_avx2()) { test = &all_on_avx2<Float>; }
#endif
  // Other samples are rejected after one chunk.
  for (Step const& step : kSteps) {
    if (!(step.size / 2 > max_error)) { break; }
    if (test(step, samples, max_error / 2)) { return step.size / 2; }
  }
  return max_error;
}

template double raise_lerc_error(LercSamples<float> const& samples, double max_error) noexcept;
template double raise_lerc_error(LercSamples<double> const& samples, double max_error) noexcept;

}  // namespace terrazzo::codec
