// SPDX-License-Identifier: Apache-2.0
//
// Undoes TIFF's predictors, one row at a time, so that a reader of a window undoes only the window's rows and writes
// them to their destination. A row has its encoded width, including the padding of an edge tile.
//
// `samples` is the distance of the differences: the samples of a pixel if they are stored together, 1 if planes are
// separate. Callers check sizes; nothing here reads or writes outside width_px * samples * sample size.
#pragma once

#include "base/host_device.hpp"
#include "tile/byte_swap.hpp"

#include <cstddef>
#include <cstdint>

namespace terrazzo::tile {

// Predictor 2 for 8, 16, 32 and 64 bits, modulo 2^bits; other widths are copied unchanged (TIFF defines none). `in`
// holds samples in native byte order; `out` may equal `in`, otherwise they must not overlap.
void undo_horizontal_row(std::byte const* in, std::byte* out, std::size_t width_px, std::uint32_t samples,
                         std::uint32_t bits) noexcept;

inline void undo_horizontal_row(std::byte* row, std::size_t width_px, std::uint32_t samples,
                                std::uint32_t bits) noexcept {
  undo_horizontal_row(row, row, width_px, samples, bits);
}

// For a row in the other byte order; `out` is in native order.
void undo_horizontal_row_swapped(std::byte const* in, std::byte* out, std::size_t width_px, std::uint32_t samples,
                                 std::uint32_t bits) noexcept;

// Predictor 3 for floats of 2, 3, 4 or 8 bytes. `in` holds byte planes, most significant first for any byte order of
// the file; `out` gets little-endian floats, so no swap follows. `in` is used as scratch and is destroyed; it must not
// overlap `out`.
void undo_float_row(std::byte* in, std::byte* out, std::size_t width_px, std::uint32_t samples,
                    std::uint32_t bytes_per_sample) noexcept;

// Predictor 3 for many rows of one sample per pixel, consecutive in `in`, with stores that bypass the caches (see
// copy_streaming): row i goes to `to` + i * stride_bytes. Rows have at most kMaxStreamedRowBytes, so that two of them
// and their planes fit in the L1 cache.
inline constexpr std::size_t kMaxStreamedRowBytes = 8192;
void stream_float_rows(std::byte* in, std::size_t width_px, std::uint32_t bytes_per_sample, std::size_t rows,
                       std::byte* to, std::ptrdiff_t stride_bytes) noexcept;

// The definitions of both, for the device and for machines without vectors; `first` is the sample to start from if the
// samples before it are done.
template <class T, bool Swapped = false>
TERRAZZO_HOST_DEVICE inline void undo_horizontal_scalar(std::byte const* in, std::byte* out, std::size_t first,
                                                        std::size_t sample_count, std::size_t samples) noexcept {
  for (std::size_t i = first; i < sample_count; ++i) {
    T value = load_unaligned<T>(in + i * sizeof(T));
    if constexpr (Swapped) { value = byte_swapped(value); }
    if (i >= samples) { value = static_cast<T>(value + load_unaligned<T>(out + (i - samples) * sizeof(T))); }
    store_unaligned<T>(out + i * sizeof(T), value);
  }
}

// Joins byte planes of `sample_count` bytes, most significant first, into little-endian samples; from sample `first`.
TERRAZZO_HOST_DEVICE inline void join_byte_planes_scalar(std::byte const* planes, std::byte* out, std::size_t first,
                                                         std::size_t sample_count,
                                                         std::uint32_t bytes_per_sample) noexcept {
  for (std::size_t i = first; i < sample_count; ++i) {
    for (std::uint32_t byte = 0; byte < bytes_per_sample; ++byte) {
      out[i * bytes_per_sample + byte] = planes[(bytes_per_sample - 1 - byte) * sample_count + i];
    }
  }
}

}  // namespace terrazzo::tile
