// SPDX-License-Identifier: Apache-2.0
//
// One sample of any type to any other: the implementation of convert.hpp's rows, shared with the device.
#pragma once

#include "base/float_nodata.hpp"
#include "base/host_device.hpp"
#include "terrazzo/dtype.hpp"
#include "tile/byte_swap.hpp"
#include "tile/convert.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace terrazzo::tile {

// Calls f with a std::type_identity of the part type: the sample itself, or half of a complex one.
template <class F>
TERRAZZO_HOST_DEVICE inline void with_part_type(DType type, F const& f) noexcept {
  switch (type) {
    case DType::u8: return f(std::type_identity<std::uint8_t>{});
    case DType::i8: return f(std::type_identity<std::int8_t>{});
    case DType::u16: return f(std::type_identity<std::uint16_t>{});
    case DType::i16:
    case DType::ci16: return f(std::type_identity<std::int16_t>{});
    case DType::u32: return f(std::type_identity<std::uint32_t>{});
    case DType::i32:
    case DType::ci32: return f(std::type_identity<std::int32_t>{});
    case DType::u64: return f(std::type_identity<std::uint64_t>{});
    case DType::i64: return f(std::type_identity<std::int64_t>{});
    case DType::f16:
    case DType::cf16: return f(std::type_identity<Half>{});
    case DType::f32:
    case DType::cf32: return f(std::type_identity<float>{});
    case DType::f64:
    case DType::cf64: return f(std::type_identity<double>{});
  }
}

// is_complex() of the public header, for device code.
[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr bool has_two_parts(DType type) noexcept { return type >= DType::ci16; }

// Compares at the sample's own width: different 64-bit integers can be equal as doubles.
template <class Src>
[[nodiscard]] TERRAZZO_HOST_DEVICE inline bool is_nodata(Src value, ValueTransform const& t) noexcept {
  if constexpr (std::is_same_v<Src, std::int64_t>) {
    return t.nodata_i64 ? value == *t.nodata_i64 : static_cast<double>(value) == t.nodata;
  } else if constexpr (std::is_same_v<Src, std::uint64_t>) {
    return t.nodata_u64 ? value == *t.nodata_u64 : static_cast<double>(value) == t.nodata;
  } else if constexpr (std::is_floating_point_v<Src>) {
    return is_float_nodata(value, static_cast<Src>(t.nodata));
  } else {
    return convert_value<double>(value) == t.nodata;
  }
}

// NaN counts as missing, because the result type may have no NaN.
template <class Src>
[[nodiscard]] TERRAZZO_HOST_DEVICE inline bool is_missing(Src value, ValueTransform const& t) noexcept {
  if (!t.mask_nodata) { return false; }
  if constexpr (is_real_float<Src>) {
    double const x = convert_value<double>(value);
    if (x != x) { return true; }
  }
  return is_nodata(value, t);
}

// A real sample, or the real part of a complex one.
template <class Dst, class Src>
[[nodiscard]] TERRAZZO_HOST_DEVICE inline Dst transformed_value(Src value, ValueTransform const& t) noexcept {
  if (is_missing(value, t)) { return t.missing.as<Dst>(); }
  return t.rescale ? convert_value<Dst>(t.rescaled(convert_value<double>(value))) : convert_value<Dst>(value);
}

// The imaginary part that belongs to `real`.
template <class Dst, class Src>
[[nodiscard]] TERRAZZO_HOST_DEVICE inline Dst transformed_imaginary(Src real, Src imaginary,
                                                                    ValueTransform const& t) noexcept {
  if (is_missing(real, t)) { return Dst{}; }
  return t.rescale ? convert_value<Dst>(convert_value<double>(imaginary) * t.scale) : convert_value<Dst>(imaginary);
}

// Converts one sample with the rules of convert_row().
TERRAZZO_HOST_DEVICE inline void convert_sample(DType from, std::byte const* in, DType to, std::byte* out,
                                                ValueTransform const& transform) noexcept {
  with_part_type(from, [&]<class Src>(std::type_identity<Src>) {
    with_part_type(to, [&]<class Dst>(std::type_identity<Dst>) {
      Src const value = load_unaligned<Src>(in);
      store_unaligned<Dst>(out, transformed_value<Dst>(value, transform));
      if (!has_two_parts(to)) { return; }
      Dst imaginary{};
      if (has_two_parts(from)) {
        imaginary = transformed_imaginary<Dst>(value, load_unaligned<Src>(in + sizeof(Src)), transform);
      }
      store_unaligned<Dst>(out + sizeof(Dst), imaginary);
    });
  });
}

}  // namespace terrazzo::tile
