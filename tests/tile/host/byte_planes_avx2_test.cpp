// SPDX-License-Identifier: Apache-2.0
#include "tile/host/byte_planes_avx2.hpp"

#include <gtest/gtest.h>

#if TERRAZZO_HAVE_X86

#include <array>

namespace terrazzo::tile {
namespace {

// Byte b of sample i.
template <int Bytes>
std::byte pattern(std::size_t i, std::size_t b) {
  return static_cast<std::byte>(i * Bytes + b + 1);
}

template <int Bytes>
TERRAZZO_TARGET_AVX2 void sort(std::byte const* samples, std::byte* planes) {
  __m256i v[Bytes];
  for (std::size_t b = 0; b < Bytes; ++b) { v[b] = load32(samples + 32 * b); }
  sort_planes<Bytes>(v);
  for (std::size_t b = 0; b < Bytes; ++b) { store32(planes + 32 * b, v[b]); }
}

template <int Bytes>
TERRAZZO_TARGET_AVX2 void join(std::byte const* planes, std::byte* joined) {
  __m256i v[Bytes];
  for (std::size_t b = 0; b < Bytes; ++b) { v[b] = load32(planes + 32 * b); }
  join_lanes<Bytes>(v);
  for (std::size_t b = 0; b < Bytes; ++b) { store32(joined + 32 * b, v[b]); }
}

template <int Bytes>
void expect_both_ways() {
  std::array<std::byte, std::size_t{32} * Bytes> samples, planes, joined;
  for (std::size_t i = 0; i < 32; ++i) {
    for (std::size_t b = 0; b < Bytes; ++b) { samples[i * Bytes + b] = pattern<Bytes>(i, b); }
  }
  sort<Bytes>(samples.data(), planes.data());
  for (std::size_t i = 0; i < 32; ++i) {
    for (std::size_t b = 0; b < Bytes; ++b) {
      ASSERT_EQ(planes[b * 32 + i], (pattern<Bytes>(i, b))) << Bytes << " bytes, sample " << i << ", byte " << b;
    }
  }
  // Lane by lane: samples 0 to 15 come out in the low halves of the vectors, 16 to 31 in the high ones.
  join<Bytes>(planes.data(), joined.data());
  for (std::size_t at = 0; at < samples.size(); ++at) {
    std::size_t const vector = at / 32, lane = at % 32 / 16, in_lane = at % 16;
    ASSERT_EQ(joined[at], samples[lane * 16 * Bytes + vector * 16 + in_lane]) << Bytes << " bytes, byte " << at;
  }
}

TEST(BytePlanes, AreSortedAndJoinedAgain) {
  if (!has_avx2()) { GTEST_SKIP() << "this machine has no AVX2"; }
  expect_both_ways<2>();
  expect_both_ways<4>();
  expect_both_ways<8>();
}

}  // namespace
}  // namespace terrazzo::tile

#endif
