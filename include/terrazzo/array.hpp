// SPDX-License-Identifier: Apache-2.0
//
// Reading into arrays whose sample type is known to the compiler.
//
//   terrazzo::Dataset const dem = terrazzo::open("dem.tif");
//   auto const heights = terrazzo::read<float>(dem, {.bands = {1}, .masked = true, .dtype = terrazzo::DType::f32});
//   float const corner = heights(0, 0, 0);  // band, row, column
//   float highest = corner;
//   for (float const height : heights) { highest = std::fmax(highest, height); }  // fmax() ignores NaN
//   std::span<float const> const first_row = heights.row(0);
//
// A type that differs from that of the result is a `usage` error: samples are converted only on request, by
// ReadRequest::dtype. Indices of bands, rows and columns count from 0; ReadRequest::bands counts from 1.
#pragma once

#include "terrazzo/dtype.hpp"
#include "terrazzo/read.hpp"
#include "terrazzo/view.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#pragma GCC visibility push(default)
namespace terrazzo {

namespace detail {
// Throws a `usage` error that names the way to convert, unless read(dataset, request) has samples of type `wanted`.
void require_result_dtype(Dataset const& dataset, ReadRequest const& request, DType wanted);
// Throws a `usage` error unless index < count. `name` is that of the index: "band", "row".
void require_index(char const* name, std::uint32_t index, std::uint32_t count);
// Throws a `usage` error unless the array has one band.
void require_one_band(std::uint32_t bands);
}  // namespace detail

// One band of an array: height x width, C order, not owned. T is const where samples may only be read.
template <class T>
  requires Sample<std::remove_const_t<T>>
class BandSpan {
 public:
  constexpr BandSpan(T* data, std::uint32_t height, std::uint32_t width) noexcept
      : data_(data), height_(height), width_(width) {}

  [[nodiscard]] constexpr std::uint32_t height() const noexcept { return height_; }
  [[nodiscard]] constexpr std::uint32_t width() const noexcept { return width_; }
  [[nodiscard]] constexpr std::size_t size() const noexcept { return std::size_t{height_} * width_; }

  // REQUIRES: row < height(), column < width().
  [[nodiscard]] constexpr T& operator()(std::uint32_t row, std::uint32_t column) const noexcept {
    return data_[std::size_t{row} * width_ + column];
  }
  // A row outside the band is a `usage` error.
  [[nodiscard]] constexpr std::span<T> row(std::uint32_t row) const {
    if (row >= height_) { detail::require_index("row", row, height_); }
    return {data_ + std::size_t{row} * width_, width_};
  }

  // All samples, row by row.
  [[nodiscard]] constexpr T* begin() const noexcept { return data_; }
  [[nodiscard]] constexpr T* end() const noexcept { return data_ + size(); }

 private:
  T* data_;
  std::uint32_t height_, width_;
};

// An owned array of bands x height x width samples of type T, C order. Constant access through a const array.
template <Sample T>
class Array {
 public:
  // The constructor leaves samples uninitialised.
  Array(std::uint32_t bands, std::uint32_t height, std::uint32_t width)
      : Array(HostArray(dtype_of<T>(), bands, height, width)) {}
  // Takes over an array. Samples of a type other than T are a `usage` error.
  explicit Array(HostArray array) : host_(std::move(array)), span_(host_.template view<T>()) {}

  [[nodiscard]] std::uint32_t bands() const noexcept { return span_.bands(); }
  [[nodiscard]] std::uint32_t height() const noexcept { return span_.height(); }
  [[nodiscard]] std::uint32_t width() const noexcept { return span_.width(); }
  [[nodiscard]] std::size_t size() const noexcept { return std::size_t{bands()} * height() * width(); }

  // REQUIRES: band < bands(), row < height(), column < width().
  [[nodiscard]] T& operator()(std::uint32_t band, std::uint32_t row, std::uint32_t column) noexcept {
    return span_(band, row, column);
  }
  [[nodiscard]] T const& operator()(std::uint32_t band, std::uint32_t row, std::uint32_t column) const noexcept {
    return span_(band, row, column);
  }

  // A band outside the array is a `usage` error.
  [[nodiscard]] BandSpan<T> band(std::uint32_t band) { return {band_data(band), height(), width()}; }
  [[nodiscard]] BandSpan<T const> band(std::uint32_t band) const { return {band_data(band), height(), width()}; }

  // The row of an array with one band; with several bands, name it: array.band(1).row(0). Otherwise a `usage` error.
  [[nodiscard]] std::span<T> row(std::uint32_t row) { return only_band().row(row); }
  [[nodiscard]] std::span<T const> row(std::uint32_t row) const { return only_band().row(row); }

  // All samples: band by band, row by row.
  [[nodiscard]] T* begin() noexcept { return data(); }
  [[nodiscard]] T* end() noexcept { return data() + size(); }
  [[nodiscard]] T const* begin() const noexcept { return data(); }
  [[nodiscard]] T const* end() const noexcept { return data() + size(); }
  [[nodiscard]] T* data() noexcept { return samples(); }
  [[nodiscard]] T const* data() const noexcept { return samples(); }

  // For functions that take views: write("out.tif", array.view(), options).
  [[nodiscard]] HostView const& view() noexcept { return host_.view(); }
  [[nodiscard]] ConstHostView view() const noexcept { return host_.view(); }

  // The array without its type, such as for DLPack. release() leaves nothing behind.
  [[nodiscard]] HostArray const& host() const noexcept { return host_; }
  [[nodiscard]] HostArray release() && noexcept { return std::move(host_); }

 private:
  [[nodiscard]] T* samples() const noexcept { return size() == 0 ? nullptr : &span_(0, 0, 0); }
  [[nodiscard]] T* band_data(std::uint32_t band) const {
    if (band >= bands()) { detail::require_index("band", band, bands()); }
    return samples() + std::size_t{band} * height() * width();
  }
  [[nodiscard]] BandSpan<T> only_band() const {
    if (bands() != 1) { detail::require_one_band(bands()); }
    return {samples(), height(), width()};
  }

  HostArray host_;
  RasterSpan<T> span_;  // of host_, whose memory stays in place when it moves
};

// Reads as read() does, into samples of type T. If T is not result_dtype(dataset, request), nothing is read: a `usage`
// error says so. `request.dtype` converts: read<float>(dem, {.dtype = DType::f32}).
template <Sample T>
[[nodiscard]] Array<T> read(Dataset const& dataset, ReadRequest const& request = {}, ReadReport* report = nullptr) {
  detail::require_result_dtype(dataset, request, dtype_of<T>());
  return Array<T>(read(dataset, request, report));
}

}  // namespace terrazzo
#pragma GCC visibility pop
