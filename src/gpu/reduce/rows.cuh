// SPDX-License-Identifier: Apache-2.0
//
// Runs a maker of samples (tile/reduce_samples.hpp and related headers) over the rows of a task: one thread for every
// result sample, or for Maker::kRows vertically adjacent ones. Neighbouring threads handle samples that are neighbours
// in memory: interleaved bands of one pixel, otherwise columns of one band.
#pragma once

#include "gpu/runtime/check.hpp"
#include "terrazzo/dtype.hpp"
#include "tile/convert.hpp"
#include "tile/reduce_task.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace terrazzo::gpu {

constexpr std::uint32_t kReduceThreads = 256;

// Samples of a line are along the grid's first dimension; lines, which are groups of rows of one band or of all, along
// its second.
struct ReduceGrid {
  std::uint32_t samples = 0;  // per line
  std::uint32_t bands_in_line = 1;
  std::uint32_t groups = 0;  // groups of rows
  std::uint64_t lines = 0;
};

[[nodiscard]] inline ReduceGrid reduce_grid(std::uint32_t width, std::uint32_t bands, std::uint32_t row_count,
                                            std::uint32_t rows_in_group, bool bands_together) noexcept {
  std::uint64_t const all_samples = std::uint64_t{width} * bands;
  bool const together = bands_together && all_samples <= std::numeric_limits<std::uint32_t>::max();
  ReduceGrid grid;
  grid.samples = together ? static_cast<std::uint32_t>(all_samples) : width;
  grid.bands_in_line = together ? bands : 1;
  grid.groups = row_count / rows_in_group + (row_count % rows_in_group != 0 ? 1 : 0);
  grid.lines = std::uint64_t{grid.groups} * (together ? 1 : bands);
  return grid;
}

// Beyond the limits of a grid's dimensions, threads handle several samples.
[[nodiscard]] inline dim3 blocks_of(std::uint64_t items_in_line, std::uint64_t lines) noexcept {
  constexpr std::uint64_t kMaxLines = 65535;
  std::uint64_t const blocks = items_in_line / kReduceThreads + (items_in_line % kReduceThreads != 0 ? 1 : 0);
  return {static_cast<unsigned>(blocks), static_cast<unsigned>(std::min(lines, kMaxLines))};
}

template <class Maker>
__global__ void __launch_bounds__(kReduceThreads) make_samples_kernel(Maker const maker, ReduceGrid const grid) {
  std::uint64_t const sample = std::uint64_t{blockIdx.x} * kReduceThreads + threadIdx.x;
  if (sample >= grid.samples) { return; }
  std::uint32_t const place = static_cast<std::uint32_t>(sample);
  std::uint32_t const column = grid.bands_in_line == 1 ? place : place / grid.bands_in_line;
  std::uint32_t const band_in_line = place - column * grid.bands_in_line;
  for (std::uint64_t line = blockIdx.y; line < grid.lines; line += gridDim.y) {
    std::uint32_t const line_band = tile::band_of_line(line, grid.groups);
    auto const group = static_cast<std::uint32_t>(line - std::uint64_t{line_band} * grid.groups);
    maker(line_band + band_in_line, column, maker.task.first_row + group * Maker::kRows);
  }
}

template <class Maker>
void make_samples(Maker const& maker, std::uint32_t bands, bool bands_together, cudaStream_t stream) {
  ReduceGrid const grid = reduce_grid(maker.task.width, bands, maker.task.row_count, Maker::kRows, bands_together);
  make_samples_kernel<Maker><<<blocks_of(grid.samples, grid.lines), kReduceThreads, 0, stream>>>(maker, grid);
  check_launch("making overview rows");
}

[[nodiscard]] inline bool bands_lie_together(tile::SourceSamples const& level) noexcept {
  auto const size = [](std::int64_t stride) { return stride < 0 ? -stride : stride; };
  return size(level.band_stride_bytes) < size(level.pixel_stride_bytes);
}

// Makes all bands.
template <class Maker>
void make_bands(Maker const& maker, cudaStream_t stream) {
  make_samples(maker, maker.task.bands, maker.task.bands > 1 && bands_lie_together(maker.task.source), stream);
}

// Makes the mask.
template <class Maker>
void make_mask(Maker const& maker, cudaStream_t stream) {
  make_samples(maker, 1, false, stream);
}

// Calls f with a std::type_identity of the sample's type. Unlike tile::with_part_type(), lets f throw.
template <class F>
void with_real_type(DType type, F const& f) {
  switch (type) {
    case DType::u8: return f(std::type_identity<std::uint8_t>{});
    case DType::i8: return f(std::type_identity<std::int8_t>{});
    case DType::u16: return f(std::type_identity<std::uint16_t>{});
    case DType::i16: return f(std::type_identity<std::int16_t>{});
    case DType::u32: return f(std::type_identity<std::uint32_t>{});
    case DType::i32: return f(std::type_identity<std::int32_t>{});
    case DType::u64: return f(std::type_identity<std::uint64_t>{});
    case DType::i64: return f(std::type_identity<std::int64_t>{});
    case DType::f16: return f(std::type_identity<tile::Half>{});
    case DType::f32: return f(std::type_identity<float>{});
    default: return f(std::type_identity<double>{});
  }
}

}  // namespace terrazzo::gpu
