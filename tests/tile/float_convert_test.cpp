// SPDX-License-Identifier: Apache-2.0
#include "tile/float_convert.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace terrazzo::tile {
namespace {

// By the definition of a binary float: (-1)^s * 2^(e - bias) * 1.m, or 2^(1 - bias) * 0.m.
double value_of(std::uint32_t bits, int exponent_bits, int mantissa_bits) {
  int const bias = (1 << (exponent_bits - 1)) - 1;
  int const exponent = static_cast<int>(bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
  double const mantissa =
      static_cast<double>(bits & ((1U << mantissa_bits) - 1)) / static_cast<double>(1U << mantissa_bits);
  double const sign = ((bits >> (exponent_bits + mantissa_bits)) & 1U) != 0 ? -1.0 : 1.0;
  if (exponent == (1 << exponent_bits) - 1) {
    return mantissa == 0.0 ? sign * std::numeric_limits<double>::infinity() : std::nan("");
  }
  return sign * (exponent == 0 ? std::ldexp(mantissa, 1 - bias) : std::ldexp(1.0 + mantissa, exponent - bias));
}

TEST(Float16ToFloat32, IsExactForEveryHalf) {
  for (std::uint32_t half = 0; half <= 0xFFFF; ++half) {
    float const result = std::bit_cast<float>(float16_to_float32_bits(static_cast<std::uint16_t>(half)));
    double const expected = value_of(half, 5, 10);
    if (std::isnan(expected)) {
      ASSERT_EQ(std::bit_cast<std::uint32_t>(result), ((half & 0x8000U) << 16) | 0x7F800000U | ((half & 0x3FFU) << 13));
    } else {
      ASSERT_EQ(result, static_cast<float>(expected)) << half;
      ASSERT_EQ(std::signbit(result), half >= 0x8000U) << half;
    }
  }
}

TEST(Float24ToFloat32, IsExactForEveryTriple) {
  for (std::uint32_t triple = 0; triple <= 0xFFFFFF; triple += 13) {
    float const result = std::bit_cast<float>(float24_to_float32_bits(triple));
    double const expected = value_of(triple, 7, 16);
    if (std::isnan(expected)) {
      ASSERT_EQ(std::bit_cast<std::uint32_t>(result),
                ((triple & 0x800000U) << 8) | 0x7F800000U | ((triple & 0xFFFFU) << 7));
    } else {
      ASSERT_EQ(result, static_cast<float>(expected)) << triple;
      ASSERT_EQ(std::signbit(result), triple >= 0x800000U) << triple;
    }
  }
  for (std::uint32_t const triple : {0x000001U, 0x00FFFFU, 0x010000U, 0x7F0000U, 0xFF0000U, 0x7EFFFFU, 0x800000U}) {
    EXPECT_EQ(static_cast<double>(std::bit_cast<float>(float24_to_float32_bits(triple))), value_of(triple, 7, 16));
  }
}

TEST(Float32ToFloat64, AgreesWithTheMachine) {
  std::mt19937 engine(1);
  for (int i = 0; i < 100000; ++i) {
    // Every second value is subnormal.
    auto const bits = static_cast<std::uint32_t>(engine()) & (i % 2 == 0 ? 0xFFFFFFFFU : 0x807FFFFFU);
    float const value = std::bit_cast<float>(bits);
    if (!std::isnan(value)) {
      ASSERT_EQ(float32_to_float64_bits(bits), std::bit_cast<std::uint64_t>(static_cast<double>(value))) << bits;
    }
  }
  EXPECT_EQ(float32_to_float64_bits(0x7FA00001U), 0x7FF4000020000000U);
}

TEST(Float32ToFloat16, GivesEveryHalfBack) {
  for (std::uint32_t half = 0; half <= 0xFFFF; ++half) {
    std::uint32_t const single = float16_to_float32_bits(static_cast<std::uint16_t>(half));
    bool const nan = (half & 0x7FFFU) > 0x7C00U;
    ASSERT_EQ(float32_to_float16_bits(single), nan ? half | 0x200U : half);
  }
}

TEST(Float32ToFloat16, RoundsToTheNearestAndTiesToEven) {
  // Between each pair of neighbours: the middle goes to the even one, a hair beside it to the nearer one.
  for (std::uint32_t half = 0; half < 0x7C00; ++half) {
    double const low = value_of(half, 5, 10);
    double const high = half == 0x7BFF ? 65536.0 : value_of(half + 1, 5, 10);
    auto const middle = static_cast<float>((low + high) / 2);
    std::uint32_t const even = (half & 1U) == 0 ? half : half + 1;
    ASSERT_EQ(float32_to_float16_bits(std::bit_cast<std::uint32_t>(middle)), even) << half;
    ASSERT_EQ(float32_to_float16_bits(std::bit_cast<std::uint32_t>(middle) - 1), half) << half;
    ASSERT_EQ(float32_to_float16_bits(std::bit_cast<std::uint32_t>(middle) + 1), half + 1) << half;
    ASSERT_EQ(float32_to_float16_bits(std::bit_cast<std::uint32_t>(-middle)), even | 0x8000U) << half;
  }
  EXPECT_EQ(float32_to_float16_bits(std::bit_cast<std::uint32_t>(1e30F)), 0x7C00U);
  EXPECT_EQ(float32_to_float16_bits(std::bit_cast<std::uint32_t>(-1e-30F)), 0x8000U);
}

TEST(Float64ToFloat16, GivesEveryHalfBack) {
  for (std::uint32_t half = 0; half <= 0xFFFF; ++half) {
    std::uint64_t const twice = float32_to_float64_bits(float16_to_float32_bits(static_cast<std::uint16_t>(half)));
    bool const nan = (half & 0x7FFFU) > 0x7C00U;
    ASSERT_EQ(float64_to_float16_bits(twice), nan ? half | 0x200U : half);
  }
}

// A hair beside the middle is one that a float does not see: by way of a float it would be a tie.
TEST(Float64ToFloat16, RoundsOnceToTheNearestAndTiesToEven) {
  for (std::uint32_t half = 0; half < 0x7C00; ++half) {
    double const low = value_of(half, 5, 10);
    double const high = half == 0x7BFF ? 65536.0 : value_of(half + 1, 5, 10);
    double const middle = (low + high) / 2;
    std::uint32_t const even = (half & 1U) == 0 ? half : half + 1;
    ASSERT_EQ(double_to_half(middle), even) << half;
    ASSERT_EQ(double_to_half(std::nextafter(middle, low)), half) << half;
    ASSERT_EQ(double_to_half(std::nextafter(middle, 1e9)), half + 1) << half;
    ASSERT_EQ(double_to_half(-middle), even | 0x8000U) << half;
  }
  EXPECT_EQ(double_to_half(65519.99999999), 0x7BFFU) << "65504, the largest";
  EXPECT_EQ(double_to_half(65520), 0x7C00U);
  EXPECT_EQ(double_to_half(-1e300), 0xFC00U);
  EXPECT_EQ(double_to_half(-1e-300), 0x8000U);
}

TEST(WidenFloat24Row, ReadsBothByteOrders) {
  // 1.0 is 3F 00 00, and -2.0 is C0 00 00.
  std::array<std::byte, 6> const little{std::byte{0}, std::byte{0}, std::byte{0x3F},
                                        std::byte{0}, std::byte{0}, std::byte{0xC0}};
  std::array<std::byte, 6> const big{std::byte{0x3F}, std::byte{0}, std::byte{0},
                                     std::byte{0xC0}, std::byte{0}, std::byte{0}};
  std::array<float, 2> out{};
  widen_float24_row(little.data(), reinterpret_cast<std::byte*>(out.data()), 2, false);
  EXPECT_EQ(out, (std::array<float, 2>{1.0F, -2.0F}));
  out = {};
  widen_float24_row(big.data(), reinterpret_cast<std::byte*>(out.data()), 2, true);
  EXPECT_EQ(out, (std::array<float, 2>{1.0F, -2.0F}));
}

TEST(WidenFloat24Row, WorksFromTheEndOfItsOwnOutput) {
  std::vector<std::byte> in(3 * 50);
  for (std::size_t i = 0; i < in.size(); ++i) { in[i] = static_cast<std::byte>(i * 31); }
  std::vector<std::byte> expected(4 * 50);
  widen_float24_row(in.data(), expected.data(), 50, false);
  std::vector<std::byte> shared(4 * 50);
  std::copy(in.begin(), in.end(), shared.begin() + 50);
  widen_float24_row(shared.data() + 50, shared.data(), 50, false);
  EXPECT_EQ(shared, expected);
}

TEST(WidenFloat16Row, ReadsBothByteOrders) {
  std::array<std::uint16_t, 3> in{0x3C00, 0xC000, 0x0001};
  std::array<float, 3> out{};
  widen_float16_row(reinterpret_cast<std::byte const*>(in.data()), reinterpret_cast<std::byte*>(out.data()), 3, false);
  EXPECT_EQ(out, (std::array<float, 3>{1.0F, -2.0F, 0x1p-24F}));
  for (std::uint16_t& half : in) { half = byte_swapped(half); }
  out = {};
  widen_float16_row(reinterpret_cast<std::byte const*>(in.data()), reinterpret_cast<std::byte*>(out.data()), 3, true);
  EXPECT_EQ(out, (std::array<float, 3>{1.0F, -2.0F, 0x1p-24F}));
}

TEST(HalfToFloat, AndBack) {
  EXPECT_EQ(half_to_float(0x3C00), 1.0F);
  EXPECT_EQ(float_to_half(65504.0F), 0x7BFF);
}

}  // namespace
}  // namespace terrazzo::tile
