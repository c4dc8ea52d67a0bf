// SPDX-License-Identifier: Apache-2.0
#include "tile/convert.hpp"

#include "tile/byte_swap.hpp"
#include "tile/convert_sample.hpp"
#include "tile/copy_samples.hpp"

#include <type_traits>

namespace terrazzo::tile {

namespace {

template <class Src, class Dst>
void convert_plain(std::byte const* in, std::ptrdiff_t in_stride, std::byte* out, std::ptrdiff_t out_stride,
                   std::size_t count) noexcept {
  // A separate loop for contiguous samples, which the compiler vectorizes.
  if (in_stride == sizeof(Src) && out_stride == sizeof(Dst)) {
    for (std::size_t i = 0; i < count; ++i) {
      store_unaligned<Dst>(out + i * sizeof(Dst), convert_value<Dst>(load_unaligned<Src>(in + i * sizeof(Src))));
    }
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    store_unaligned<Dst>(out, convert_value<Dst>(load_unaligned<Src>(in)));
    in += in_stride;
    out += out_stride;
  }
}

template <class Src, class Dst>
void convert_transformed(std::byte const* in, std::ptrdiff_t in_stride, std::byte* out, std::ptrdiff_t out_stride,
                         std::size_t count, ValueTransform const& t) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    store_unaligned<Dst>(out, transformed_value<Dst>(load_unaligned<Src>(in), t));
    in += in_stride;
    out += out_stride;
  }
}

void convert_samples(DType from, std::byte const* in, std::ptrdiff_t in_stride, DType to, std::byte* out,
                     std::ptrdiff_t out_stride, std::size_t count, ValueTransform const& t) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    convert_sample(from, in, to, out, t);
    in += in_stride;
    out += out_stride;
  }
}

}  // namespace

void convert_row(DType from, std::byte const* in, std::ptrdiff_t in_stride, DType to, std::byte* out,
                 std::ptrdiff_t out_stride, std::size_t count, ValueTransform const& transform) noexcept {
  bool const plain = transform.is_identity();
  if (!plain && is_complex(to)) { return convert_samples(from, in, in_stride, to, out, out_stride, count, transform); }
  if (from == to && plain) { return copy_samples(in, in_stride, out, out_stride, count, size_bytes(from)); }
  with_part_type(from, [&]<class Src>(std::type_identity<Src>) {
    with_part_type(to, [&]<class Dst>(std::type_identity<Dst>) {
      if (!plain) { return convert_transformed<Src, Dst>(in, in_stride, out, out_stride, count, transform); }
      convert_plain<Src, Dst>(in, in_stride, out, out_stride, count);
      if (!is_complex(to)) { return; }
      if (is_complex(from)) {
        convert_plain<Src, Dst>(in + sizeof(Src), in_stride, out + sizeof(Dst), out_stride, count);
      } else {
        for (std::size_t i = 0; i < count; ++i) {
          store_unaligned<Dst>(out + static_cast<std::ptrdiff_t>(i) * out_stride + sizeof(Dst), Dst{});
        }
      }
    });
  });
}

void fill_row(DType to, std::byte* out, std::ptrdiff_t out_stride, std::size_t count, double value) noexcept {
  convert_row(DType::f64, reinterpret_cast<std::byte const*>(&value), 0, to, out, out_stride, count, {});
}

void store_missing(DType to, std::byte* out, MissingValue const& missing) noexcept {
  with_part_type(to, [&]<class Dst>(std::type_identity<Dst>) {
    store_unaligned<Dst>(out, missing.as<Dst>());
    if (is_complex(to)) { store_unaligned<Dst>(out + sizeof(Dst), Dst{}); }
  });
}

void valid_row(DType from, std::byte const* in, std::ptrdiff_t in_stride, std::uint8_t* out, std::ptrdiff_t out_stride,
               std::size_t count, ValueTransform const& nodata) noexcept {
  with_part_type(from, [&]<class Src>(std::type_identity<Src>) {
    for (std::size_t i = 0; i < count; ++i) {
      Src const value = load_unaligned<Src>(in);
      bool valid = !(nodata.mask_nodata && is_nodata(value, nodata));
      if constexpr (is_real_float<Src>) {
        double const x = convert_value<double>(value);
        if (nodata.mask_nodata && nodata.nodata != nodata.nodata && x != x) { valid = false; }
      }
      *out = valid ? 255 : 0;
      in += in_stride;
      out += out_stride;
    }
  });
}

}  // namespace terrazzo::tile
