// SPDX-License-Identifier: Apache-2.0
//
// Views of pixels in memory owned by the caller. The type says where the pixels are and who may write them:
//
//                     destination of a read   source of a write
//   host memory       HostView                ConstHostView
//   GPU memory        DeviceView              ConstDeviceView
//
// A writable view converts to the const view of the same memory. Host and device views never convert into each other.
//
//   std::vector<float> pixels(width * height);
//   terrazzo::HostView const view{pixels.data(), terrazzo::DType::f32, 1, height, width};
#pragma once

#include "terrazzo/dtype.hpp"

#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#pragma GCC visibility push(default)
namespace terrazzo {

// C++ types of samples: integers but bool and characters, float, double, and std::complex of the last two. float16 and
// complex integers have no standard type.
template <class T>
concept Sample =
    (std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char> && !std::same_as<T, wchar_t> &&
     !std::same_as<T, char8_t> && !std::same_as<T, char16_t> && !std::same_as<T, char32_t> && !std::is_const_v<T>) ||
    std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, std::complex<float>> ||
    std::same_as<T, std::complex<double>>;

// The DType of samples of type T.
template <Sample T>
[[nodiscard]] constexpr DType dtype_of() noexcept {
  if constexpr (std::same_as<T, float>) {
    return DType::f32;
  } else if constexpr (std::same_as<T, double>) {
    return DType::f64;
  } else if constexpr (std::same_as<T, std::complex<float>>) {
    return DType::cf32;
  } else if constexpr (std::same_as<T, std::complex<double>>) {
    return DType::cf64;
  } else if constexpr (sizeof(T) == 1) {
    return std::is_signed_v<T> ? DType::i8 : DType::u8;
  } else if constexpr (sizeof(T) == 2) {
    return std::is_signed_v<T> ? DType::i16 : DType::u16;
  } else if constexpr (sizeof(T) == 4) {
    return std::is_signed_v<T> ? DType::i32 : DType::u32;
  } else {
    return std::is_signed_v<T> ? DType::i64 : DType::u64;
  }
}

enum class MemoryKind : std::uint8_t { host, device };

// Describes pixels in memory owned by the caller. Strides are in bytes, may be negative, and allow any order
// (band-first, band-last, padded). Three zero strides mean packed: bands x height x width, C order. Otherwise a zero
// stride repeats one band, row or pixel in the source of a write; in the destination of a read, a zero stride over
// more than one band, row or pixel is a `usage` error.
template <MemoryKind kind, class Void>
struct View {
  Void* data = nullptr;  // address of band 0, row 0, column 0
  DType dtype = DType::u8;
  std::uint32_t bands = 0, height = 0, width = 0;
  std::int64_t band_stride_bytes = 0, row_stride_bytes = 0, pixel_stride_bytes = 0;

  template <class Other>
    requires(std::is_same_v<Void, void> && std::is_same_v<Other, View<kind, void const>>)
  constexpr operator Other() const noexcept {
    return {data, dtype, bands, height, width, band_stride_bytes, row_stride_bytes, pixel_stride_bytes};
  }
};

using HostView = View<MemoryKind::host, void>;
using ConstHostView = View<MemoryKind::host, void const>;
using DeviceView = View<MemoryKind::device, void>;
using ConstDeviceView = View<MemoryKind::device, void const>;

// Samples in host memory, typed: bands x height x width, C order, not owned. T is const where they may only be read.
template <class T>
  requires Sample<std::remove_const_t<T>>
class RasterSpan {
 public:
  constexpr RasterSpan(T* data, std::uint32_t bands, std::uint32_t height, std::uint32_t width) noexcept
      : data_(data), bands_(bands), height_(height), width_(width) {}

  [[nodiscard]] constexpr std::uint32_t bands() const noexcept { return bands_; }
  [[nodiscard]] constexpr std::uint32_t height() const noexcept { return height_; }
  [[nodiscard]] constexpr std::uint32_t width() const noexcept { return width_; }

  // REQUIRES: band < bands(), row < height(), column < width(); bands count from 0.
  [[nodiscard]] constexpr T& operator()(std::uint32_t band, std::uint32_t row, std::uint32_t column) const noexcept {
    return row_data(band, row)[column];
  }
  [[nodiscard]] constexpr std::span<T> row(std::uint32_t band, std::uint32_t row) const noexcept {
    return {row_data(band, row), width_};
  }

  constexpr operator RasterSpan<T const>() const noexcept
    requires(!std::is_const_v<T>)
  {
    return {data_, bands_, height_, width_};
  }

 private:
  [[nodiscard]] constexpr T* row_data(std::uint32_t band, std::uint32_t row) const noexcept {
    return data_ + (std::size_t{band} * height_ + row) * width_;
  }

  T* data_;
  std::uint32_t bands_, height_, width_;
};

}  // namespace terrazzo
#pragma GCC visibility pop
