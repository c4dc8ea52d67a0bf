// SPDX-License-Identifier: Apache-2.0
//
// One sample at a time, as the device does it, against rows, as the host does.
#include "tile/convert_sample.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

namespace terrazzo::tile {
namespace {

using Bytes = std::vector<std::byte>;

constexpr DType kAllTypes[] = {DType::u8,   DType::i8,   DType::u16,  DType::i16, DType::u32, DType::i32,
                               DType::u64,  DType::i64,  DType::f16,  DType::f32, DType::f64, DType::ci16,
                               DType::ci32, DType::cf16, DType::cf32, DType::cf64};

template <class T>
void append(Bytes& out, T value) {
  std::byte raw[sizeof(T)];
  std::memcpy(raw, &value, sizeof(T));
  out.insert(out.end(), raw, raw + sizeof(T));
}

template <class T>
void append_edges(Bytes& out) {
  if constexpr (std::is_same_v<T, Half>) {
    // Zeros, the least subnormal and normal, halves, the largest, infinities, NaN. No signalling NaN: whether a detour
    // through double quiets it is the compiler's choice.
    for (int const bits : {0x0000, 0x8000, 0x0001, 0x0400, 0x3800, 0x3E00, 0xBE00, 0x5BF8, 0x7BFF, 0xFBFF, 0x7C00,
                           0xFC00, 0x7E00, 0xFE01}) {
      append(out, Half{static_cast<std::uint16_t>(bits)});
    }
  } else if constexpr (std::is_floating_point_v<T>) {
    T const inf = std::numeric_limits<T>::infinity();
    std::vector<T> values{T(0),
                          -T(0),
                          T(0.5),
                          T(-0.5),
                          T(1.5),
                          T(-1.5),
                          T(2.4999),
                          T(126.5),
                          T(127.5),
                          T(-128.5),
                          T(254.5),
                          T(255.4),
                          T(255.5),
                          T(-32768.5),
                          T(65535.5),
                          T(2147483647),
                          T(-2147483648.0),
                          T(4294967295.0),
                          T(4294967296.0),
                          T(9.223372036854775e18),
                          T(9.3e18),
                          T(-9.3e18),
                          T(1.8446744073709552e19),
                          T(2e19),
                          T(65504),
                          T(65520),
                          T(1e-8),
                          T(6e-8),
                          inf,
                          -inf,
                          std::numeric_limits<T>::quiet_NaN(),
                          std::numeric_limits<T>::denorm_min(),
                          std::numeric_limits<T>::max(),
                          std::numeric_limits<T>::lowest()};
    for (T const value : values) {
      append(out, value);
      append(out, std::nextafter(value, inf));
      append(out, std::nextafter(value, -inf));
    }
  } else {
    for (T const base : {T(0), std::numeric_limits<T>::max(), std::numeric_limits<T>::lowest()}) {
      using Wrapping = std::make_unsigned_t<T>;  // past the ends the values go round
      for (int step = -2; step <= 2; ++step) {
        append(out, static_cast<T>(static_cast<Wrapping>(static_cast<Wrapping>(base) + static_cast<Wrapping>(step))));
      }
    }
    // Around the ends of the narrower types.
    for (int const bits : {7, 8, 11, 15, 16, 24, 31, 32, 53, 63}) {
      std::uint64_t const power = std::uint64_t{1} << bits;
      for (std::uint64_t const value : {power - 1, power, power + 1, ~power, ~power + 1}) {
        append(out, static_cast<T>(value));
      }
    }
  }
}

// Samples of a type, an even number of parts of them.
Bytes edge_samples(DType type) {
  Bytes out;
  with_part_type(type, [&]<class T>(std::type_identity<T>) {
    append_edges<T>(out);
    if (out.size() / sizeof(T) % 2 != 0) { append_edges<T>(out); }
  });
  return out;
}

void expect_equal_to_rows(DType from, DType to, ValueTransform const& transform) {
  Bytes const in = edge_samples(from);
  std::size_t const from_bytes = size_bytes(from), to_bytes = size_bytes(to), count = in.size() / from_bytes;
  Bytes row(count * to_bytes);
  convert_row(from, in.data(), static_cast<std::ptrdiff_t>(from_bytes), to, row.data(),
              static_cast<std::ptrdiff_t>(to_bytes), count, transform);
  for (std::size_t i = 0; i < count; ++i) {
    Bytes one(to_bytes, std::byte{0xA5});
    convert_sample(from, in.data() + i * from_bytes, to, one.data(), transform);
    ASSERT_TRUE(std::equal(one.begin(), one.end(), row.begin() + static_cast<std::ptrdiff_t>(i * to_bytes)))
        << to_string(from) << " to " << to_string(to) << ", sample " << i;
  }
}

TEST(ConvertSample, GivesWhatARowGivesForEveryPairOfTypes) {
  for (DType const from : kAllTypes) {
    for (DType const to : kAllTypes) { expect_equal_to_rows(from, to, {}); }
  }
}

TEST(ConvertSample, TransformsAsARowDoesForEveryPairOfTypes) {
  ValueTransform masked;
  masked.mask_nodata = true;
  masked.nodata = 127;
  ValueTransform scaled;
  scaled.rescale = true;
  scaled.scale = 0.1;
  scaled.offset = -3.7;
  ValueTransform both = scaled;
  both.mask_nodata = true;
  both.nodata = -128;
  for (DType const from : kAllTypes) {
    for (DType const to : kAllTypes) {
      for (ValueTransform const& transform : {masked, scaled, both}) { expect_equal_to_rows(from, to, transform); }
    }
  }
}

TEST(ConvertSample, ComparesNodataOf64BitsExactly) {
  ValueTransform signed_marker;
  signed_marker.mask_nodata = true;
  signed_marker.nodata_i64 = std::numeric_limits<std::int64_t>::max() - 1;
  signed_marker.nodata = static_cast<double>(*signed_marker.nodata_i64);
  expect_equal_to_rows(DType::i64, DType::f64, signed_marker);
  ValueTransform unsigned_marker;
  unsigned_marker.mask_nodata = true;
  unsigned_marker.nodata_u64 = std::numeric_limits<std::uint64_t>::max() - 2;
  unsigned_marker.nodata = static_cast<double>(*unsigned_marker.nodata_u64);
  expect_equal_to_rows(DType::u64, DType::f64, unsigned_marker);

  auto const as_double = [&](std::int64_t value) {
    double out = 0;
    convert_sample(DType::i64, reinterpret_cast<std::byte const*>(&value), DType::f64,
                   reinterpret_cast<std::byte*>(&out), signed_marker);
    return out;
  };
  EXPECT_TRUE(std::isnan(as_double(*signed_marker.nodata_i64)));
  EXPECT_FALSE(std::isnan(as_double(*signed_marker.nodata_i64 + 1))) << "equal as doubles";
}

TEST(ConvertSample, TakesAndLeavesSamplesAtAnyAddress) {
  std::array<std::byte, 40> memory{};
  double const value = -1234.56789;
  std::memcpy(memory.data() + 3, &value, sizeof value);
  convert_sample(DType::f64, memory.data() + 3, DType::f32, memory.data() + 21, {});
  float out = 0;
  std::memcpy(&out, memory.data() + 21, sizeof out);
  EXPECT_EQ(out, static_cast<float>(value));
}

TEST(HasTwoParts, IsThePublicIsComplex) {
  for (DType const type : kAllTypes) { EXPECT_EQ(has_two_parts(type), is_complex(type)) << to_string(type); }
}

}  // namespace
}  // namespace terrazzo::tile
