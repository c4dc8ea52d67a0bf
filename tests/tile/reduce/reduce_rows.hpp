// SPDX-License-Identifier: Apache-2.0
//
// A raster of one band in, the reduced raster out: what the tests of src/tile/reduce/reduction*.cpp share.
#pragma once

#include "terrazzo/write.hpp"
#include "tile/reduce/reduction.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace terrazzo::tile {

template <class T>
inline constexpr DType dtype_of = DType::u8;
template <>
inline constexpr DType dtype_of<std::int16_t> = DType::i16;
template <>
inline constexpr DType dtype_of<std::uint16_t> = DType::u16;
template <>
inline constexpr DType dtype_of<std::int32_t> = DType::i32;
template <>
inline constexpr DType dtype_of<std::int64_t> = DType::i64;
template <>
inline constexpr DType dtype_of<float> = DType::f32;
template <>
inline constexpr DType dtype_of<double> = DType::f64;

template <class T>
struct Raster {
  std::uint32_t width = 0, height = 0;
  std::vector<T> pixels{};
  std::vector<std::uint8_t> mask{};  // empty: none
};

template <class T>
[[nodiscard]] HostView rows_of(std::vector<T>& pixels, DType dtype, std::uint32_t width, std::uint32_t first,
                               std::uint32_t count) {
  std::int64_t const row_bytes = static_cast<std::int64_t>(width * sizeof(T));
  return {pixels.data() + std::size_t{first} * width, dtype, 1, count, width, 0, row_bytes, sizeof(T)};
}

struct ReduceTo {
  std::uint32_t width = 0, height = 0;
  Resampling method = Resampling::average;
  std::optional<Nodata> nodata{};
  std::uint32_t rows_at_a_time = 1'000'000;
};

// Hands over no more source rows than source_rows() asks for.
template <class T>
[[nodiscard]] Raster<T> reduced(Raster<T> source, ReduceTo const& to) {
  ReductionSpec spec{source.width, source.height, to.width, to.height, dtype_of<T>, 1, to.method, to.nodata};
  spec.mask = !source.mask.empty();
  Reduction const reduction(spec);
  std::size_t const size = std::size_t{to.width} * to.height;
  Raster<T> result{to.width, to.height, std::vector<T>(size), std::vector<std::uint8_t>(spec.mask ? size : 0)};
  for (std::uint32_t row = 0; row < to.height; row += to.rows_at_a_time) {
    std::uint32_t const count = std::min(to.rows_at_a_time, to.height - row);
    std::uint32_t const first = reduction.source_rows(row).first;
    std::uint32_t const source_count = reduction.source_rows(row + count - 1).last - first;
    HostRows in{first, rows_of(source.pixels, dtype_of<T>, source.width, first, source_count), {}};
    HostRows out{row, rows_of(result.pixels, dtype_of<T>, to.width, row, count), {}};
    if (spec.mask) {
      in.mask = rows_of(source.mask, DType::u8, source.width, first, source_count);
      out.mask = rows_of(result.mask, DType::u8, to.width, row, count);
    }
    reduction.reduce(in, out);
  }
  return result;
}

// Pixels that differ from their neighbours in every bit, the same on every machine.
template <class T>
[[nodiscard]] Raster<T> scrambled(std::uint32_t width, std::uint32_t height) {
  Raster<T> raster{width, height, std::vector<T>(std::size_t{width} * height), {}};
  std::uint32_t state = 12345;
  for (T& pixel : raster.pixels) {
    state = state * 1664525U + 1013904223U;
    pixel = static_cast<T>(static_cast<T>(state >> 16) - static_cast<T>(1000));
  }
  return raster;
}

}  // namespace terrazzo::tile
