// SPDX-License-Identifier: Apache-2.0
//
// One sample of any type into any other: the text behind convert.hpp's rows, shared with the device.
#pragma once

#include "base/float_nodata.hpp"
#include "base/host_device.hpp"
#include "terrazzo/dtype.hpp"
#include "tile/byte_swap.hpp"
#include "tile/convert.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
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

// is_complex() of the public header, for device code too.
[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr bool has_two_parts(DType type) noexcept { return type >= DType::ci16; }

// Compared at the sample's own width: a double could call two different 64-bit integers equal.
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

template <class Dst, class Src>
[[nodiscard]] TERRAZZO_HOST_DEVICE inline Dst transformed_value(Src value, ValueTransform const& t) noexcept {
  double x = convert_value<double>(value);
  if (t.mask_nodata && is_nodata(value, t)) {
    x = std::numeric_limits<double>::quiet_NaN();
  } else if (t.rescale) {
    x = x * t.scale + t.offset;
  }
  return convert_value<Dst>(x);
}

// One sample, as convert_row() does it. `plain`: no transform takes part (complex types never have one).
TERRAZZO_HOST_DEVICE inline void convert_sample(DType from, std::byte const* in, DType to, std::byte* out, bool plain,
                                                ValueTransform const& transform) noexcept {
  with_part_type(from, [&]<class Src>(std::type_identity<Src>) {
    with_part_type(to, [&]<class Dst>(std::type_identity<Dst>) {
      Src const value = load_unaligned<Src>(in);
      if (!plain) {
        store_unaligned<Dst>(out, transformed_value<Dst>(value, transform));
        return;
      }
      store_unaligned<Dst>(out, convert_value<Dst>(value));
      if (!has_two_parts(to)) { return; }
      store_unaligned<Dst>(out + sizeof(Dst),
                           has_two_parts(from) ? convert_value<Dst>(load_unaligned<Src>(in + sizeof(Src))) : Dst{});
    });
  });
}

}  // namespace terrazzo::tile
