// SPDX-License-Identifier: Apache-2.0
//
// Converts one sample type to another, with GDAL's rules: integers are clamped, floats are rounded half away from zero
// and clamped, NaN becomes 0 in an integer; a real type keeps the real part of a complex value.
#pragma once

#include "base/host_device.hpp"
#include "terrazzo/dtype.hpp"
#include "tile/float_convert.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

namespace terrazzo::tile {

// A float16 sample: storage only; arithmetic uses float.
struct Half {
  std::uint16_t bits;
};

template <class T>
inline constexpr bool is_real_float = std::is_floating_point_v<T> || std::is_same_v<T, Half>;

template <class Dst, class Src>
[[nodiscard]] TERRAZZO_HOST_DEVICE inline Dst convert_value(Src value) noexcept {
  if constexpr (std::is_same_v<Dst, Src>) {
    return value;
  } else if constexpr (std::is_same_v<Src, Half>) {
    return convert_value<Dst>(std::bit_cast<float>(float16_to_float32_bits(value.bits)));
  } else if constexpr (std::is_same_v<Dst, Half> && std::is_same_v<Src, double>) {
    return Half{double_to_half(value)};
  } else if constexpr (std::is_same_v<Dst, Half>) {
    return Half{float32_to_float16_bits(std::bit_cast<std::uint32_t>(static_cast<float>(value)))};
  } else if constexpr (std::is_floating_point_v<Dst>) {
    return static_cast<Dst>(value);
  } else if constexpr (std::is_floating_point_v<Src>) {
    constexpr auto kLow = static_cast<Src>(std::numeric_limits<Dst>::lowest());
    constexpr auto kHigh = static_cast<Src>(std::numeric_limits<Dst>::max());  // may round up to one past the maximum
    if (value != value) { return 0; }
    if (value >= kHigh) { return std::numeric_limits<Dst>::max(); }
    if (value <= kLow) { return std::numeric_limits<Dst>::lowest(); }
    // The largest float below a half: with 0.5 itself, 0.49999997f would become 1, and odd integers above 2^23, which
    // have no fraction bits left, would become the next even one.
    constexpr Src kHalf = static_cast<Src>(0.5) - std::numeric_limits<Src>::epsilon() / 4;
    Src const rounded = value > 0 ? value + kHalf : value - kHalf;
    if (rounded >= kHigh) { return std::numeric_limits<Dst>::max(); }
    if (rounded <= kLow) { return std::numeric_limits<Dst>::lowest(); }
    return static_cast<Dst>(rounded);
  } else {
    if constexpr (std::is_signed_v<Src> && !std::is_signed_v<Dst>) {
      if (value < 0) { return 0; }
      using Wide = std::make_unsigned_t<Src>;
      if (static_cast<Wide>(value) > std::numeric_limits<Dst>::max()) { return std::numeric_limits<Dst>::max(); }
    } else if constexpr (!std::is_signed_v<Src> && std::is_signed_v<Dst>) {
      using Wide = std::make_unsigned_t<Dst>;
      if (value > static_cast<Wide>(std::numeric_limits<Dst>::max())) { return std::numeric_limits<Dst>::max(); }
    } else {
      if (value > std::numeric_limits<Dst>::max()) { return std::numeric_limits<Dst>::max(); }
      if (value < std::numeric_limits<Dst>::lowest()) { return std::numeric_limits<Dst>::lowest(); }
    }
    return static_cast<Dst>(value);
  }
}

// Value of missing pixels in a result of any type: NaN becomes 0 in an integer. The imaginary part is 0.
struct MissingValue {
  double value = std::numeric_limits<double>::quiet_NaN();
  std::optional<std::int64_t> i64{};  // for int64 results, which a double cannot represent exactly
  std::optional<std::uint64_t> u64{};

  template <class Dst>
  [[nodiscard]] TERRAZZO_HOST_DEVICE Dst as() const noexcept {
    if constexpr (std::is_same_v<Dst, std::int64_t>) {
      if (i64) { return *i64; }
    } else if constexpr (std::is_same_v<Dst, std::uint64_t>) {
      if (u64) { return *u64; }
    }
    return convert_value<Dst>(value);
  }
};

// Transformation of values. Scaling uses double. The real part of complex samples is compared with the
// marker, as in GDAL; the scale applies to both parts, the offset to the real part.
struct ValueTransform {
  bool mask_nodata = false;  // values equal to the marker, and NaN, become `missing`, for any scale
  double nodata = 0;
  std::optional<std::int64_t> nodata_i64{};  // for int64 bands, which a double cannot represent exactly
  std::optional<std::uint64_t> nodata_u64{};
  bool rescale = false;
  double scale = 1, offset = 0;
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();  // of rescaled
  MissingValue missing{};

  // NaN stays NaN.
  [[nodiscard]] TERRAZZO_HOST_DEVICE double rescaled(double value) const noexcept {
    double const result = value * scale + offset;
    return result < low ? low : result > high ? high : result;
  }

  [[nodiscard]] TERRAZZO_HOST_DEVICE bool is_identity() const noexcept { return !mask_nodata && !rescale; }
};

// One row: `count` samples, strides in bytes between samples.
void convert_row(DType from, std::byte const* in, std::ptrdiff_t in_stride_bytes, DType to, std::byte* out,
                 std::ptrdiff_t out_stride_bytes, std::size_t count, ValueTransform const& transform) noexcept;

// Writes `value` as samples of type `to`.
void fill_row(DType to, std::byte* out, std::ptrdiff_t out_stride_bytes, std::size_t count, double value) noexcept;

// One missing pixel, as a sample of type `to`.
void store_missing(DType to, std::byte* out, MissingValue const& missing) noexcept;

// 255 for valid samples (neither nodata nor NaN), else 0.
void valid_row(DType from, std::byte const* in, std::ptrdiff_t in_stride_bytes, std::uint8_t* out,
               std::ptrdiff_t out_stride_bytes, std::size_t count, ValueTransform const& nodata) noexcept;

}  // namespace terrazzo::tile
