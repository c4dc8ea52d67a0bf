// SPDX-License-Identifier: Apache-2.0
#include "tile/convert.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

namespace terrazzo::tile {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, std::uint8_t>) { return DType::u8; }
  if constexpr (std::is_same_v<T, std::int8_t>) { return DType::i8; }
  if constexpr (std::is_same_v<T, std::uint16_t>) { return DType::u16; }
  if constexpr (std::is_same_v<T, std::int16_t>) { return DType::i16; }
  if constexpr (std::is_same_v<T, std::uint32_t>) { return DType::u32; }
  if constexpr (std::is_same_v<T, std::int32_t>) { return DType::i32; }
  if constexpr (std::is_same_v<T, std::uint64_t>) { return DType::u64; }
  if constexpr (std::is_same_v<T, std::int64_t>) { return DType::i64; }
  if constexpr (std::is_same_v<T, Half>) { return DType::f16; }
  if constexpr (std::is_same_v<T, float>) { return DType::f32; }
  if constexpr (std::is_same_v<T, double>) { return DType::f64; }
  if constexpr (std::is_same_v<T, std::complex<std::int16_t>>) { return DType::ci16; }
  if constexpr (std::is_same_v<T, std::complex<float>>) { return DType::cf32; }
  if constexpr (std::is_same_v<T, std::complex<double>>) { return DType::cf64; }
}

template <class Dst, class Src>
std::vector<Dst> converted(std::vector<Src> const& in, ValueTransform const& transform = {}) {
  std::vector<Dst> out(in.size());
  convert_row(dtype_of<Src>(), reinterpret_cast<std::byte const*>(in.data()), sizeof(Src), dtype_of<Dst>(),
              reinterpret_cast<std::byte*>(out.data()), sizeof(Dst), in.size(), transform);
  return out;
}

ValueTransform nodata_of(double value) {
  ValueTransform t;
  t.mask_nodata = true;
  t.nodata = value;
  return t;
}

// ---------------------------------------------------------------------------------------------------------------
// GDAL's rules, value by value

TEST(ConvertValues, ClampIntegersToTheRangeOfTheOther) {
  EXPECT_EQ((converted<std::uint8_t, std::int16_t>({-32768, -1, 0, 255, 256, 32767})),
            (std::vector<std::uint8_t>{0, 0, 0, 255, 255, 255}));
  EXPECT_EQ((converted<std::int8_t, std::int32_t>({-200, -128, 127, 128})),
            (std::vector<std::int8_t>{-128, -128, 127, 127}));
  EXPECT_EQ((converted<std::int8_t, std::uint8_t>({127, 128, 255})), (std::vector<std::int8_t>{127, 127, 127}));
  EXPECT_EQ((converted<std::int64_t, std::uint64_t>({std::uint64_t{1} << 63, ~std::uint64_t{0}, 5})),
            (std::vector<std::int64_t>{INT64_MAX, INT64_MAX, 5}));
  EXPECT_EQ((converted<std::uint64_t, std::int64_t>({INT64_MIN, -1, INT64_MAX})),
            (std::vector<std::uint64_t>{0, 0, static_cast<std::uint64_t>(INT64_MAX)}));
  EXPECT_EQ((converted<std::uint32_t, std::int64_t>({-1, 4'294'967'295, 4'294'967'296})),
            (std::vector<std::uint32_t>{0, UINT32_MAX, UINT32_MAX}));
  EXPECT_EQ((converted<std::int32_t, std::uint32_t>({2'147'483'648u})), (std::vector<std::int32_t>{INT32_MAX}));
}

TEST(ConvertValues, RoundFloatsHalfAwayFromZeroAndClampThem) {
  EXPECT_EQ((converted<std::uint8_t, float>({-1.f, -0.4f, 0.49f, 0.5f, 1.5f, 2.5f, 254.5f, 255.4f, 1e30f})),
            (std::vector<std::uint8_t>{0, 0, 0, 1, 2, 3, 255, 255, 255}));
  EXPECT_EQ((converted<std::int16_t, double>({-0.5, -1.5, -2.5, 0.5, -32768.6, 32767.5, 1e300, -1e300})),
            (std::vector<std::int16_t>{-1, -2, -3, 1, -32768, 32767, 32767, -32768}));
  EXPECT_EQ((converted<std::int32_t, float>({2147483648.f, -2147483648.f, -2147483904.f, 2147483520.f})),
            (std::vector<std::int32_t>{INT32_MAX, INT32_MIN, INT32_MIN, 2'147'483'520}));
}

TEST(ConvertValues, RoundTheExactValue) {
  EXPECT_EQ((converted<std::int16_t, float>({0.49999997f, -0.49999997f, 4194304.5f - 4194304.f})),
            (std::vector<std::int16_t>{0, 0, 1}));
  EXPECT_EQ((converted<std::int32_t, float>({8388609.f, -8388609.f, 16777215.f, 4194304.5f, 4194305.5f, 2097152.25f})),
            (std::vector<std::int32_t>{8388609, -8388609, 16777215, 4194305, 4194306, 2097152}));
  EXPECT_EQ((converted<std::int64_t, double>({0.49999999999999994, 4503599627370497., -9007199254740991., 2.5})),
            (std::vector<std::int64_t>{0, 4503599627370497, -9007199254740991, 3}));
}

TEST(ConvertValues, ClampFloatsAtTheEdgeOfSixtyFourBits) {
  EXPECT_EQ((converted<std::uint64_t, double>({18446744073709551616.0, 18446744073709549568.0, -1, 0.5})),
            (std::vector<std::uint64_t>{UINT64_MAX, 18'446'744'073'709'549'568u, 0, 1}));
  EXPECT_EQ(
      (converted<std::int64_t, double>({9223372036854775808.0, -9223372036854775808.0, -1e19, 9223372036854774784.0})),
      (std::vector<std::int64_t>{INT64_MAX, INT64_MIN, INT64_MIN, 9'223'372'036'854'774'784}));
  EXPECT_EQ((converted<std::uint64_t, float>({1.8446744e19f, 1e38f})),
            (std::vector<std::uint64_t>{UINT64_MAX, UINT64_MAX}));
}

TEST(ConvertValues, MakeZeroOfNanAndEdgesOfInfinities) {
  EXPECT_EQ((converted<std::uint8_t, double>({kNan, kInf, -kInf})), (std::vector<std::uint8_t>{0, 255, 0}));
  EXPECT_EQ((converted<std::int64_t, float>({NAN, INFINITY, -INFINITY})),
            (std::vector<std::int64_t>{0, INT64_MAX, INT64_MIN}));
}

TEST(ConvertValues, GoThroughFloatForHalves) {
  Half const one{0x3C00}, minus_two{0xC000}, largest{0x7BFF}, infinity{0x7C00}, smallest{0x0001};
  EXPECT_EQ((converted<float, Half>({one, minus_two, largest, infinity, smallest})),
            (std::vector<float>{1, -2, 65504, INFINITY, 5.9604645e-8f}));
  EXPECT_EQ((converted<std::uint8_t, Half>({one, minus_two, largest})), (std::vector<std::uint8_t>{1, 0, 255}));
  std::vector<Half> const narrow = converted<Half, double>({1.0, -2.0, 1e9, kNan});
  EXPECT_EQ(narrow[0].bits, 0x3C00);
  EXPECT_EQ(narrow[1].bits, 0xC000);
  EXPECT_EQ(narrow[2].bits, 0x7C00);
  EXPECT_TRUE((narrow[3].bits & 0x7C00) == 0x7C00 && (narrow[3].bits & 0x3FF) != 0);
}

TEST(ConvertValues, NarrowDoublesToTheNearestFloat) {
  EXPECT_EQ((converted<float, double>({1.0000000596046448, -0.0, kInf})), (std::vector<float>{1.0f, -0.0f, INFINITY}));
  EXPECT_TRUE(std::isnan((converted<float, double>({kNan}))[0]));
}

// ---------------------------------------------------------------------------------------------------------------
// Rows

TEST(ConvertRow, CopiesSameTypesBitForBit) {
  std::uint64_t const signalling = 0x7FF0000000000001;
  std::vector<double> const in = {std::bit_cast<double>(signalling), -0.0, 1};
  std::vector<double> out(3);
  convert_row(DType::f64, reinterpret_cast<std::byte const*>(in.data()), 8, DType::f64,
              reinterpret_cast<std::byte*>(out.data()), 8, 3, {});
  EXPECT_EQ(std::memcmp(in.data(), out.data(), 24), 0);
}

TEST(ConvertRow, FollowsStridesOfAnySign) {
  for (DType const type : {DType::u8, DType::u16, DType::f32, DType::i64, DType::cf64}) {
    auto const bytes = static_cast<std::ptrdiff_t>(size_bytes(type));
    constexpr std::ptrdiff_t kCount = 5;
    std::vector<std::byte> in(static_cast<std::size_t>(kCount * bytes * 2)),
        out(static_cast<std::size_t>(kCount * bytes * 3), std::byte{0xEE});
    for (std::size_t i = 0; i < in.size(); ++i) { in[i] = static_cast<std::byte>(i + 1); }
    // Every second sample, written backwards to every third place.
    convert_row(type, in.data(), 2 * bytes, type, out.data() + (kCount - 1) * 3 * bytes, -3 * bytes, kCount, {});
    for (std::ptrdiff_t i = 0; i < kCount; ++i) {
      EXPECT_EQ(std::memcmp(out.data() + (kCount - 1 - i) * 3 * bytes, in.data() + i * 2 * bytes,
                            static_cast<std::size_t>(bytes)),
                0);
      EXPECT_EQ(out[static_cast<std::size_t>(i * 3 * bytes + bytes)], std::byte{0xEE}) << "nothing between";
    }
  }
}

TEST(ConvertRow, ConvertsStridedAsItConvertsTight) {
  std::vector<float> const tight = {1.5f, -3, 300, NAN};
  std::vector<float> spread(8, 77);
  for (std::size_t i = 0; i < 4; ++i) { spread[2 * i] = tight[i]; }
  std::vector<std::uint8_t> out(12, 9);
  convert_row(DType::f32, reinterpret_cast<std::byte const*>(spread.data()), 8, DType::u8,
              reinterpret_cast<std::byte*>(out.data()), 3, 4, {});
  EXPECT_EQ(out, (std::vector<std::uint8_t>{2, 9, 9, 0, 9, 9, 255, 9, 9, 0, 9, 9}));
}

TEST(ConvertRow, RepeatsOneSampleOverAStrideOfZero) {
  std::uint16_t const value = 500;
  std::vector<float> out(3);
  convert_row(DType::u16, reinterpret_cast<std::byte const*>(&value), 0, DType::f32,
              reinterpret_cast<std::byte*>(out.data()), 4, 3, {});
  EXPECT_EQ(out, (std::vector<float>{500, 500, 500}));
}

TEST(ConvertRow, OfNothingTouchesNothing) {
  convert_row(DType::f32, nullptr, 4, DType::u8, nullptr, 1, 0, {});
  convert_row(DType::f32, nullptr, 8, DType::f32, nullptr, 4, 0, {});
}

TEST(ConvertRow, CoversEveryPairOfTypes) {
  for (unsigned from = 0; from < 16; ++from) {
    for (unsigned to = 0; to < 16; ++to) {
      auto const f = static_cast<DType>(from), t = static_cast<DType>(to);
      std::byte in[16], out[16], back[16];
      fill_row(f, in, 0, 1, 7);
      convert_row(f, in, 0, t, out, 0, 1, {});
      convert_row(t, out, 0, f, back, 0, 1, {});
      EXPECT_EQ(std::memcmp(in, back, size_bytes(f)), 0) << to_string(f) << " to " << to_string(t) << " and back";
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------
// Complex

TEST(ConvertComplex, KeepsTheRealPartForARealType) {
  EXPECT_EQ((converted<float, std::complex<float>>({{1.5f, 9}, {-2, 8}})), (std::vector<float>{1.5f, -2}));
  EXPECT_EQ((converted<std::uint8_t, std::complex<double>>({{300, 1}, {-5, 1}})), (std::vector<std::uint8_t>{255, 0}));
}

TEST(ConvertComplex, GetsAnImaginaryPartOfZeroFromARealType) {
  std::vector<std::complex<float>> out(2, {9, 9});
  std::vector<std::uint16_t> const in = {3, 4};
  convert_row(DType::u16, reinterpret_cast<std::byte const*>(in.data()), 2, DType::cf32,
              reinterpret_cast<std::byte*>(out.data()), 8, 2, {});
  EXPECT_EQ(out, (std::vector<std::complex<float>>{{3, 0}, {4, 0}}));
}

TEST(ConvertComplex, ConvertsBothParts) {
  EXPECT_EQ((converted<std::complex<double>, std::complex<float>>({{1.5f, -2.5f}})),
            (std::vector<std::complex<double>>{{1.5, -2.5}}));
  std::int16_t out[2];
  std::complex<float> const in{40000.f, -1.5f};
  convert_row(DType::cf32, reinterpret_cast<std::byte const*>(&in), 8, DType::ci16, reinterpret_cast<std::byte*>(out),
              4, 1, {});
  EXPECT_EQ(out[0], 32767);
  EXPECT_EQ(out[1], -2);
}

TEST(ConvertComplex, ScalesBothPartsAndShiftsTheRealOne) {
  ValueTransform t;
  t.rescale = true;
  t.scale = 100;
  t.offset = 7;
  EXPECT_EQ((converted<std::complex<float>, std::complex<float>>({{1.5f, 2}}, t)),
            (std::vector<std::complex<float>>{{157, 200}}));
  EXPECT_EQ((converted<std::complex<double>, std::complex<std::int16_t>>({{-3, 2}}, t)),
            (std::vector<std::complex<double>>{{-293, 200}}));
  EXPECT_EQ((converted<double, std::complex<float>>({{1.5f, 2}}, t)), (std::vector<double>{157}));
  EXPECT_EQ((converted<std::complex<float>, std::uint8_t>({2}, t)), (std::vector<std::complex<float>>{{207, 0}}));
}

TEST(ConvertComplex, IsMissingWhereTheRealPartIsNodata) {
  ValueTransform t = nodata_of(1.5);
  t.missing.value = -1;
  t.rescale = true;
  t.scale = 2;
  EXPECT_EQ((converted<std::complex<float>, std::complex<float>>({{1.5f, 2}, {2, 1.5f}}, t)),
            (std::vector<std::complex<float>>{{-1, 0}, {4, 3}}));
}

// ---------------------------------------------------------------------------------------------------------------
// Transforms

TEST(ConvertTransformed, MakesNanOfNodataOnly) {
  auto const out = converted<double, std::int16_t>({-9999, 5, 9999}, nodata_of(-9999));
  EXPECT_TRUE(std::isnan(out[0]));
  EXPECT_EQ(out[1], 5);
  EXPECT_EQ(out[2], 9999);
}

TEST(ConvertTransformed, MakesZeroOfNodataInAnInteger) {
  EXPECT_EQ((converted<std::uint8_t, std::int16_t>({-9999, 5}, nodata_of(-9999))), (std::vector<std::uint8_t>{0, 5}));
}

TEST(ConvertTransformed, MakesAnyValueOfNodataAndNan) {
  ValueTransform t = nodata_of(-9999);
  t.missing.value = 200;
  EXPECT_EQ((converted<std::uint8_t, std::int16_t>({-9999, 5}, t)), (std::vector<std::uint8_t>{200, 5}));
  t.rescale = true;
  t.scale = 2;
  EXPECT_EQ((converted<std::uint8_t, float>({-9999, 5, NAN}, t)), (std::vector<std::uint8_t>{200, 10, 200}));
}

TEST(ConvertTransformed, KeepsLongIntegersExactWhereNothingIsScaled) {
  constexpr std::int64_t kLong = (std::int64_t{1} << 60) + 1;
  ValueTransform t = nodata_of(-1);
  t.nodata_i64 = -1;
  t.missing.i64 = kLong + 2;
  t.missing.value = static_cast<double>(kLong + 2);
  EXPECT_EQ((converted<std::int64_t, std::int64_t>({kLong, -1}, t)), (std::vector<std::int64_t>{kLong, kLong + 2}));
}

TEST(ConvertTransformed, ScalesAndThenShifts) {
  ValueTransform t;
  t.rescale = true;
  t.scale = 0.5;
  t.offset = 10;
  EXPECT_EQ((converted<double, std::uint8_t>({0, 3, 255}, t)), (std::vector<double>{10, 11.5, 137.5}));
  EXPECT_EQ((converted<std::uint8_t, std::uint8_t>({3, 255}, t)), (std::vector<std::uint8_t>{12, 138})) << "rounded";
}

TEST(ConvertTransformed, ComparesNodataBeforeScaling) {
  ValueTransform t = nodata_of(0);
  t.rescale = true;
  t.scale = 2;
  t.offset = -10;
  auto const out = converted<double, std::uint8_t>({0, 5}, t);
  EXPECT_TRUE(std::isnan(out[0]));
  EXPECT_EQ(out[1], 0) << "a value that becomes the marker is valid";
}

// 2^53 + 1 is no double: comparing as doubles would call its neighbour nodata.
TEST(ConvertTransformed, TellsSixtyFourBitNodataFromItsNeighbours) {
  constexpr std::int64_t kMarker = (std::int64_t{1} << 53) + 1;
  ValueTransform t = nodata_of(static_cast<double>(kMarker));
  t.nodata_i64 = kMarker;
  t.nodata_u64 = static_cast<std::uint64_t>(kMarker);
  auto const out = converted<double, std::int64_t>({kMarker, kMarker - 1, kMarker + 1}, t);
  EXPECT_TRUE(std::isnan(out[0]));
  EXPECT_FALSE(std::isnan(out[1]));
  EXPECT_FALSE(std::isnan(out[2]));
  auto const unsigned_out = converted<double, std::uint64_t>(
      {static_cast<std::uint64_t>(kMarker), static_cast<std::uint64_t>(kMarker) - 1}, t);
  EXPECT_TRUE(std::isnan(unsigned_out[0]));
  EXPECT_FALSE(std::isnan(unsigned_out[1]));
}

TEST(ConvertTransformed, LeavesNanAsItIs) {
  auto const out = converted<float, float>({NAN, 3}, nodata_of(kNan));
  EXPECT_TRUE(std::isnan(out[0]));
  EXPECT_EQ(out[1], 3);
}

// ---------------------------------------------------------------------------------------------------------------
// Filling and validity

TEST(FillRow, WritesTheValueClampedToTheType) {
  std::vector<std::uint8_t> bytes(6, 7);
  fill_row(DType::u8, reinterpret_cast<std::byte*>(bytes.data()), 2, 3, 300);
  EXPECT_EQ(bytes, (std::vector<std::uint8_t>{255, 7, 255, 7, 255, 7}));
  std::vector<float> floats(2);
  fill_row(DType::f32, reinterpret_cast<std::byte*>(floats.data()), 4, 2, kNan);
  EXPECT_TRUE(std::isnan(floats[1]));
  std::complex<float> complex{5, 5};
  fill_row(DType::cf32, reinterpret_cast<std::byte*>(&complex), 8, 1, -1);
  EXPECT_EQ(complex, (std::complex<float>{-1, 0}));
}

TEST(StoreMissing, WritesOneSampleOfAnyType) {
  std::int16_t integer = 5;
  store_missing(DType::i16, reinterpret_cast<std::byte*>(&integer), {});
  EXPECT_EQ(integer, 0) << "NaN";
  std::complex<float> complex{5, 5};
  store_missing(DType::cf32, reinterpret_cast<std::byte*>(&complex), {.value = -3});
  EXPECT_EQ(complex, (std::complex<float>{-3, 0}));
  std::uint64_t wide = 5;
  store_missing(DType::u64, reinterpret_cast<std::byte*>(&wide), {.value = 1.8e19, .u64 = UINT64_MAX});
  EXPECT_EQ(wide, UINT64_MAX);
}

template <class T>
std::vector<std::uint8_t> valid(std::vector<T> const& in, ValueTransform const& t) {
  std::vector<std::uint8_t> out(in.size(), 7);
  valid_row(dtype_of<T>(), reinterpret_cast<std::byte const*>(in.data()), sizeof(T), out.data(), 1, in.size(), t);
  return out;
}

TEST(ValidRow, TellsNodata) {
  EXPECT_EQ(valid<std::int16_t>({-1, 0, 1}, nodata_of(0)), (std::vector<std::uint8_t>{255, 0, 255}));
  EXPECT_EQ(valid<float>({1.5f, 2}, nodata_of(1.5)), (std::vector<std::uint8_t>{0, 255}));
}

TEST(ValidRow, TellsNanOnlyWhenNanIsTheMarker) {
  EXPECT_EQ(valid<float>({NAN, 2}, nodata_of(kNan)), (std::vector<std::uint8_t>{0, 255}));
  EXPECT_EQ(valid<float>({NAN, 2}, nodata_of(2)), (std::vector<std::uint8_t>{255, 0}));
}

TEST(ValidRow, WithoutAMarkerIsAllValid) {
  EXPECT_EQ(valid<double>({kNan, 0, 1}, {}), (std::vector<std::uint8_t>{255, 255, 255}));
}

TEST(ValidRow, ComparesSixtyFourBitsExactly) {
  ValueTransform t = nodata_of(static_cast<double>(UINT64_MAX));
  t.nodata_u64 = UINT64_MAX;
  EXPECT_EQ(valid<std::uint64_t>({UINT64_MAX, UINT64_MAX - 1}, t), (std::vector<std::uint8_t>{0, 255}));
}

TEST(ValidRow, FollowsStrides) {
  std::vector<std::uint16_t> const in = {1, 99, 0, 99, 1, 99};
  std::vector<std::uint8_t> out(5, 7);
  valid_row(DType::u16, reinterpret_cast<std::byte const*>(in.data()), 4, out.data() + 4, -2, 3, nodata_of(0));
  EXPECT_EQ(out, (std::vector<std::uint8_t>{255, 7, 0, 7, 255}));
}

}  // namespace
}  // namespace terrazzo::tile
