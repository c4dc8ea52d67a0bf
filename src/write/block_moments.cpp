// SPDX-License-Identifier: Apache-2.0
#include "write/block_moments.hpp"

#include "tile/float_convert.hpp"
#include "write/block_cutter.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace terrazzo::writing {

namespace {

// A half, to be told from a uint16.
struct Half {
  std::uint16_t bits;
};

template <class T>
double value_of(T sample) noexcept {
  if constexpr (std::is_same_v<T, Half>) {
    return tile::half_to_float(sample.bits);
  } else {
    return static_cast<double>(sample);
  }
}

// By value: zeros of either sign are the same.
template <class T>
bool is_same(T a, T b) noexcept {
  if constexpr (std::is_same_v<T, Half>) {
    return value_of(a) == value_of(b);
  } else {
    return a == b;
  }
}

// The sum of a row of a block never loses what shows: rows are short, and their moments are merged.
struct RowSums {
  std::uint64_t count = 0;
  double shift = 0, sum = 0, squares = 0;
  double minimum = std::numeric_limits<double>::infinity(), maximum = -std::numeric_limits<double>::infinity();

  void add(double value) noexcept {
    if (count == 0) { shift = value; }
    ++count;
    double const distance = value - shift;
    sum += distance;
    squares += distance * distance;
    minimum = std::min(minimum, value);
    maximum = std::max(maximum, value);
  }

  [[nodiscard]] Moments moments() const noexcept {
    Moments result;
    if (count == 0) { return result; }
    auto const n = static_cast<double>(count);
    result.count = count;
    result.mean = shift + sum / n;
    result.m2 = std::max(0.0, squares - sum * sum / n);
    result.minimum = result.finite_minimum = minimum;
    result.maximum = result.finite_maximum = maximum;
    return result;
  }
};

struct BlockRows {
  std::uint32_t columns, rows, samples;
  std::size_t row_bytes;
  std::byte const* data;
  std::byte const* mask;  // null: none
  std::int64_t mask_row_stride, mask_pixel_stride;
};

template <class T>
std::vector<Moments> moments_of(BlockRows const& block, Nodata const* nodata, DType dtype) {
  std::byte marker_bytes[16] = {};
  if (nodata != nullptr) { store_nodata(*nodata, dtype, marker_bytes); }
  T marker;
  std::memcpy(&marker, marker_bytes, sizeof marker);
  std::vector<Moments> result(block.samples);
  for (std::uint32_t s = 0; s < block.samples; ++s) {
    for (std::uint32_t y = 0; y < block.rows; ++y) {
      std::byte const* const row = block.data + y * block.row_bytes + s * sizeof(T);
      std::byte const* const mask = block.mask != nullptr ? block.mask + y * block.mask_row_stride : nullptr;
      RowSums sums;
      for (std::uint32_t x = 0; x < block.columns; ++x) {
        std::byte const* const at = row + std::size_t{x} * block.samples * sizeof(T);
        if (mask != nullptr && mask[x * block.mask_pixel_stride] == std::byte{0}) { continue; }
        T sample;
        std::memcpy(&sample, at, sizeof sample);
        if (nodata != nullptr && is_same(sample, marker)) { continue; }
        double const value = value_of(sample);
        if (!std::isnan(value)) { sums.add(value); }
      }
      result[s].merge(sums.moments());
    }
  }
  return result;
}

}  // namespace

std::vector<Moments> block_moments(FilePlan const& plan, LevelPlan const& level, LevelRows const& rows, TileId block,
                                   std::span<std::byte const> samples) {
  BlockRows part{};
  std::uint32_t const column = block.column * level.block_width;
  part.columns = std::min(level.block_width, level.width - column);
  part.rows = level.rows_of(block.row);
  part.samples = plan.samples_per_block;
  part.row_bytes = std::size_t{level.block_width} * plan.samples_per_block * plan.sample_bytes();
  part.data = samples.data();
  if (rows.mask.data != nullptr) {
    part.mask_row_stride = rows.mask.row_stride_bytes;
    part.mask_pixel_stride = rows.mask.pixel_stride_bytes;
    part.mask = static_cast<std::byte const*>(rows.mask.data) +
                std::int64_t{level.first_row(block.row) - rows.first} * part.mask_row_stride +
                std::int64_t{column} * part.mask_pixel_stride;
  }
  auto const& nodata = plan.options.nodata;
  Nodata const* const marker = nodata && nodata->representable ? &*nodata : nullptr;
  DType const dtype = plan.options.dtype;
  switch (dtype) {
    case DType::u8: return moments_of<std::uint8_t>(part, marker, dtype);
    case DType::i8: return moments_of<std::int8_t>(part, marker, dtype);
    case DType::u16: return moments_of<std::uint16_t>(part, marker, dtype);
    case DType::i16: return moments_of<std::int16_t>(part, marker, dtype);
    case DType::u32: return moments_of<std::uint32_t>(part, marker, dtype);
    case DType::i32: return moments_of<std::int32_t>(part, marker, dtype);
    case DType::u64: return moments_of<std::uint64_t>(part, marker, dtype);
    case DType::i64: return moments_of<std::int64_t>(part, marker, dtype);
    case DType::f16: return moments_of<Half>(part, marker, dtype);
    case DType::f32: return moments_of<float>(part, marker, dtype);
    case DType::f64: return moments_of<double>(part, marker, dtype);
    default: return std::vector<Moments>(plan.samples_per_block);
  }
}

}  // namespace terrazzo::writing
