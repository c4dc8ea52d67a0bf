// SPDX-License-Identifier: Apache-2.0
//
// The average of levels with even sizes, 16 bytes of two rows at a time: the most common overview, limited by memory
// speed. The same bits as MakeAverage of reduce_samples.hpp.
#pragma once

#include "base/host_device.hpp"
#include "tile/reduce_marker.hpp"
#include "tile/reduce_task.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>

namespace terrazzo::tile {

// Loaded or stored by one instruction.
struct alignas(16) SixteenBytes {
  std::uint64_t low, high;
};
struct alignas(8) EightBytes {
  std::uint64_t all;
};

// Samples are contiguous along rows, with bands interleaved or in planes.
template <class T>
struct HalvedRows {
  std::byte const* source = nullptr;  // first of the two rows of the first result row; all rows are 16-byte aligned
  std::byte* result = nullptr;
  std::int64_t source_row_stride_bytes = 0, source_band_stride_bytes = 0;
  std::int64_t result_row_stride_bytes = 0, result_band_stride_bytes = 0;
  std::uint32_t together = 1;  // interleaved bands of a pixel; 1, 2 or 4
  std::uint32_t width = 0, row_count = 0;  // size of the result
  std::uint64_t lines = 0;  // rows, summed over bands if they are in planes
  bool result_is_aligned = false;  // to 8 bytes
  Marker<T> marker{};
};

// Makes 8 bytes of a result row, or the rest of it.
template <class T, std::uint32_t Together, bool Marked>
struct HalveChunk {
  static constexpr std::uint32_t kRead = 16 / sizeof(T), kMade = kRead / 2;  // number of samples
  static_assert(kMade % Together == 0);
  HalvedRows<T> rows{};

  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint64_t chunk_count() const noexcept {
    return (std::uint64_t{rows.width} * Together + kMade - 1) / kMade;
  }

  TERRAZZO_HOST_DEVICE void operator()(std::uint64_t chunk, std::uint64_t line) const noexcept {
    std::uint64_t const first = chunk * kMade, left = std::uint64_t{rows.width} * Together - first;
    bool const is_whole = left >= kMade;
    std::uint32_t const made_count = is_whole ? kMade : static_cast<std::uint32_t>(left);
    std::int64_t const band = band_of_line(line, rows.row_count);
    std::int64_t const row = static_cast<std::int64_t>(line) - band * rows.row_count;
    std::byte const* const from = rows.source + band * rows.source_band_stride_bytes +
                                  2 * row * rows.source_row_stride_bytes +
                                  static_cast<std::int64_t>(2 * first * sizeof(T));
    T above[kRead], below[kRead], made[kMade];
    load(from, 2 * made_count, above);
    load(from + rows.source_row_stride_bytes, 2 * made_count, below);
    auto const first_column = static_cast<std::uint32_t>(first / Together);
    std::uint32_t const tail = rows.width - reading_order_tail<T>(rows.width);
    for (std::uint32_t i = 0; i < kMade; ++i) {
      std::uint32_t const l = i / Together * 2 * Together + i % Together, r = l + Together;
      made[i] = average(above[l], above[r], below[l], below[r], first_column + i / Together >= tail);
    }
    std::byte* const to = rows.result + band * rows.result_band_stride_bytes + row * rows.result_row_stride_bytes +
                          static_cast<std::int64_t>(first * sizeof(T));
    if (is_whole && rows.result_is_aligned) {
      EightBytes word;
      std::memcpy(&word, made, sizeof(word));
      *reinterpret_cast<EightBytes*>(to) = word;
      return;
    }
    for (std::uint32_t i = 0; i < kMade; ++i) {
      if (i < made_count) { reinterpret_cast<T*>(to)[i] = made[i]; }
    }
  }

 private:
  TERRAZZO_HOST_DEVICE static void load(std::byte const* from, std::uint32_t count, T (&samples)[kRead]) noexcept {
    if (count == kRead) {
      SixteenBytes const word = *reinterpret_cast<SixteenBytes const*>(from);
      std::memcpy(samples, &word, sizeof(word));
      return;
    }
    for (std::uint32_t i = 0; i < kRead; ++i) { samples[i] = i < count ? reinterpret_cast<T const*>(from)[i] : T{}; }
  }

  [[nodiscard]] TERRAZZO_HOST_DEVICE T average(T a, T b, T c, T d, bool in_reading_order) const noexcept {
    if constexpr (Marked) {
      T const values[4] = {a, b, c, d};
      bool const valid[4] = {!is_marker(a, rows.marker.value), !is_marker(b, rows.marker.value),
                             !is_marker(c, rows.marker.value), !is_marker(d, rows.marker.value)};
      return average_of_valid_four<T>(values, valid, rows.marker.avoided, rows.marker.value);
    } else {
      return average_of_four<T>(a, b, c, d, in_reading_order);
    }
  }
};

// nullopt if the task is unsuitable.
template <class T>
[[nodiscard]] std::optional<HalvedRows<T>> halved_rows(ReduceTask const& task, Marker<T> const& marker) noexcept {
  constexpr std::int64_t kSample = sizeof(T);
  SourceSamples const& source = task.source;
  ResultSamples const& result = task.result;
  bool const is_half = task.columns_are_pairs && task.source_height == 2 * std::uint64_t{task.height};
  if (!is_half || task.has_mask || task.has_alpha) { return std::nullopt; }
  HalvedRows<T> rows;
  if (source.pixel_stride_bytes == kSample && result.pixel_stride_bytes == kSample) {
    rows.source_band_stride_bytes = source.band_stride_bytes;
    rows.result_band_stride_bytes = result.band_stride_bytes;
  } else {
    bool const fits = task.bands == 2 || task.bands == 4;
    if (!fits || task.bands * kSample > 8 || source.pixel_stride_bytes != kSample * task.bands ||
        result.pixel_stride_bytes != kSample * task.bands || source.band_stride_bytes != kSample ||
        result.band_stride_bytes != kSample) {
      return std::nullopt;
    }
    rows.together = task.bands;
  }
  rows.source = source.at(0, 0, 2 * task.first_row);
  rows.result = result.at(0, 0, task.first_row);
  rows.source_row_stride_bytes = source.row_stride_bytes;
  rows.result_row_stride_bytes = result.row_stride_bytes;
  auto const is_aligned = [](std::byte const* data, std::int64_t row_stride, std::int64_t band_stride,
                             std::int64_t bytes) {
    return reinterpret_cast<std::uintptr_t>(data) % static_cast<std::uintptr_t>(bytes) == 0 &&
           row_stride % bytes == 0 && band_stride % bytes == 0;
  };
  if (!is_aligned(rows.source, rows.source_row_stride_bytes, rows.source_band_stride_bytes, 16)) {
    return std::nullopt;
  }
  rows.result_is_aligned = is_aligned(rows.result, rows.result_row_stride_bytes, rows.result_band_stride_bytes, 8);
  rows.width = task.width;
  rows.row_count = task.row_count;
  rows.lines = std::uint64_t{task.row_count} * (rows.together == 1 ? task.bands : 1);
  rows.marker = marker;
  return rows;
}

// Calls f with the HalveChunk for the rows.
template <class T, class F>
void with_halve_chunk(HalvedRows<T> const& rows, F const& f) {
  auto const with_marker = [&]<std::uint32_t Together>(std::integral_constant<std::uint32_t, Together>) {
    if constexpr (Together * sizeof(T) <= 8) {
      if (rows.marker.present) { return f(HalveChunk<T, Together, true>{rows}); }
      return f(HalveChunk<T, Together, false>{rows});
    }
  };
  switch (rows.together) {
    case 1: return with_marker(std::integral_constant<std::uint32_t, 1>{});
    case 2: return with_marker(std::integral_constant<std::uint32_t, 2>{});
    default: return with_marker(std::integral_constant<std::uint32_t, 4>{});
  }
}

}  // namespace terrazzo::tile
