// SPDX-License-Identifier: Apache-2.0
//
// Applies TIFF's predictors, one row at a time; the inverse of tile/undo_predictor.hpp. The row has its encoded width,
// including the padding of an edge tile. Separate input and output make the predictor part of the copy that assembles a
// tile.
//
// `samples` is the distance of the differences: the samples of a pixel if they are stored together, 1 if planes are
// separate. Callers check sizes; nothing here reads or writes outside width_px * samples * sample size.
#pragma once

#include "base/host_device.hpp"
#include "tile/byte_swap.hpp"

#include <cstddef>
#include <cstdint>

namespace terrazzo::tile {

// Predictor 2 for 8, 16, 32 and 64 bits, modulo 2^bits; other widths are copied unchanged (TIFF defines none). Samples
// are in native byte order; `out` may equal `in`, otherwise they must not overlap.
void apply_horizontal_row(std::byte const* in, std::byte* out, std::size_t width_px, std::uint32_t samples,
                          std::uint32_t bits) noexcept;

inline void apply_horizontal_row(std::byte* row, std::size_t width_px, std::uint32_t samples,
                                 std::uint32_t bits) noexcept {
  apply_horizontal_row(row, row, width_px, samples, bits);
}

// Predictor 3 for floats of 2, 3, 4 or 8 bytes. `in` holds little-endian floats; `out` gets byte planes, most
// significant first, and then every byte minus the one `samples` before it. They must not overlap.
void apply_float_row(std::byte const* in, std::byte* out, std::size_t width_px, std::uint32_t samples,
                     std::uint32_t bytes_per_sample) noexcept;

// The definitions of both, sample by sample and byte by byte, for the device and for machines without vectors.

// Sample `i` of a row after predictor 2. In place, process samples from the last to the first.
template <class T>
[[nodiscard]] TERRAZZO_HOST_DEVICE inline T horizontal_difference(std::byte const* in, std::size_t i,
                                                                  std::size_t samples) noexcept {
  T const value = load_unaligned<T>(in + i * sizeof(T));
  if (i < samples) { return value; }
  return static_cast<T>(value - load_unaligned<T>(in + (i - samples) * sizeof(T)));
}

// Byte `i` of plane `plane` (0: most significant) after predictor 3. Differences continue from plane to plane: the
// last pixel of the previous plane is subtracted from the first pixel of a plane.
[[nodiscard]] TERRAZZO_HOST_DEVICE inline std::byte float_difference(std::byte const* in, std::uint32_t plane,
                                                                     std::size_t i, std::size_t sample_count,
                                                                     std::size_t samples,
                                                                     std::uint32_t bytes_per_sample) noexcept {
  std::size_t const significance = bytes_per_sample - 1 - plane;
  auto const value = static_cast<std::uint32_t>(in[i * bytes_per_sample + significance]);
  std::uint32_t before = 0;
  if (i >= samples) {
    before = static_cast<std::uint32_t>(in[(i - samples) * bytes_per_sample + significance]);
  } else if (plane != 0) {
    before =
        static_cast<std::uint32_t>(in[(sample_count - samples + i) * bytes_per_sample + significance + std::size_t{1}]);
  }
  return static_cast<std::byte>((value - before) & 0xFFU);
}

}  // namespace terrazzo::tile
