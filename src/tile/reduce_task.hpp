// SPDX-License-Identifier: Apache-2.0
//
// Rows of two levels in one memory, the host's or a device's, and the validity of the source's pixels: the input of the
// makers of single samples (reduce_samples.hpp, reduce_rank.hpp, reduce_convolution.hpp). Trivially copyable, so that
// it is passed to kernels directly.
#pragma once

#include "base/host_device.hpp"
#include "tile/float_convert.hpp"
#include "tile/reduce_pixel.hpp"
#include "tile/reduction_spec.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace terrazzo::tile {

// Samples of one level from row `first` on. Address and strides are multiples of a sample's alignment (of a part's, if
// samples are complex). Byte is const in a level that is only read.
template <class Byte>
struct LevelSamples {
  Byte* data = nullptr;
  std::int64_t band_stride_bytes = 0, row_stride_bytes = 0, pixel_stride_bytes = 0;
  std::uint32_t first = 0;

  [[nodiscard]] TERRAZZO_HOST_DEVICE Byte* at(std::uint32_t band, std::uint32_t column,
                                              std::uint32_t row) const noexcept {
    return data + band * band_stride_bytes + static_cast<std::int64_t>(row - first) * row_stride_bytes +
           column * pixel_stride_bytes;
  }
};

using SourceSamples = LevelSamples<std::byte const>;
using ResultSamples = LevelSamples<std::byte>;

// The source of a sample's validity.
enum class Validity : std::uint8_t { all, marker, mask, alpha };

struct ReduceTask {
  SourceSamples source{}, source_mask{};  // masks: of uint8; data is null if there is none
  ResultSamples result{}, result_mask{};
  std::uint32_t source_width = 0, source_height = 0, width = 0, height = 0;
  std::uint32_t bands = 1;
  std::uint32_t first_row = 0, row_count = 0;  // rows of the result to make
  double column_ratio = 1, row_ratio = 1;
  bool columns_are_pairs = false;
  bool has_mask = false, has_alpha = false;
  bool alpha_is_mask = false;  // for all bands
  std::uint32_t alpha_band = 0;

  // The mask has priority over the marker, and the marker over alpha; alpha itself is reduced where it is visible.
  [[nodiscard]] TERRAZZO_HOST_DEVICE Validity validity(std::uint32_t band, bool has_marker) const noexcept {
    if (alpha_is_mask || (has_alpha && band == alpha_band)) { return Validity::alpha; }
    if (has_mask) { return Validity::mask; }
    return has_marker ? Validity::marker : Validity::all;
  }
};

// Sets everything except the samples and the rows to make.
[[nodiscard]] inline ReduceTask reduce_task(ReductionSpec const& spec) noexcept {
  ReduceTask task;
  task.source_width = spec.source_width;
  task.source_height = spec.source_height;
  task.width = spec.width;
  task.height = spec.height;
  task.bands = spec.bands;
  task.column_ratio = static_cast<double>(spec.source_width) / spec.width;
  task.row_ratio = static_cast<double>(spec.source_height) / spec.height;
  task.columns_are_pairs = spec.source_width == 2 * static_cast<std::uint64_t>(spec.width);
  task.has_mask = spec.mask;
  task.has_alpha = spec.alpha_band.has_value();
  task.alpha_is_mask = spec.alpha_is_mask();
  task.alpha_band = spec.alpha_band.value_or(0);
  return task;
}

// The samples of one band.
template <class T>
struct BandSamples {
  SourceSamples const& level;
  std::uint32_t band;

  [[nodiscard]] TERRAZZO_HOST_DEVICE T operator()(std::uint32_t column, std::uint32_t row) const noexcept {
    return *reinterpret_cast<T const*>(level.at(band, column, row));
  }
};

// True if a pixel with this alpha counts. As in GDAL, where alpha is converted to a byte: values below a half do not
// count, nor do negative values, such as the nodata value that a transparent window got on the previous level.
template <class T>
[[nodiscard]] TERRAZZO_HOST_DEVICE inline bool is_visible(T alpha) noexcept {
  return convert_value<std::uint8_t>(alpha) != 0;
}

// True if the sample of one band at (column, row) counts.
template <class T>
struct CountedSamples {
  ReduceTask const& task;
  Validity kind;
  std::uint32_t band;
  T marker;

  [[nodiscard]] TERRAZZO_HOST_DEVICE bool operator()(std::uint32_t column, std::uint32_t row) const noexcept {
    switch (kind) {
      case Validity::all: return true;
      case Validity::mask: return BandSamples<std::uint8_t>{task.source_mask, 0}(column, row) != 0;
      case Validity::alpha: return is_visible(BandSamples<T>{task.source, task.alpha_band}(column, row));
      default: return !is_marker(BandSamples<T>{task.source, band}(column, row), marker);
    }
  }
};

// The band of a line, if every band has `lines_a_band`. Division of 64 bits is slow on a device.
[[nodiscard]] TERRAZZO_HOST_DEVICE inline std::uint32_t band_of_line(std::uint64_t line,
                                                                     std::uint32_t lines_a_band) noexcept {
  bool const is_short = line >> 32 == 0;
  return is_short ? static_cast<std::uint32_t>(line) / lines_a_band : static_cast<std::uint32_t>(line / lines_a_band);
}

template <class T>
TERRAZZO_HOST_DEVICE inline void store_sample(ResultSamples const& level, std::uint32_t band, std::uint32_t column,
                                              std::uint32_t row, T value) noexcept {
  *reinterpret_cast<T*>(level.at(band, column, row)) = value;
}

}  // namespace terrazzo::tile
