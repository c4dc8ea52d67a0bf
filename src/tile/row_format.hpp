// SPDX-License-Identifier: Apache-2.0
//
// The format of a decoded row, as TIFF defines it, and the conversion of its samples to finished ones: samples of the
// band's type in native byte order. The host processes a row at a time (read/blocks/row_finisher), the device a sample.
#pragma once

#include "base/host_device.hpp"
#include "terrazzo/dtype.hpp"
#include "tile/bit_unpack.hpp"
#include "tile/byte_swap.hpp"
#include "tile/float_convert.hpp"

#include <cstddef>
#include <cstdint>

namespace terrazzo::tile {

enum class FinishStep : std::uint8_t {
  copy,
  swap,
  horizontal,
  horizontal_swapped,
  floating,
  unpack_bits,
  widen_float24,
  floating_then_widen,
};

struct RowFormat {
  FinishStep step = FinishStep::copy;
  bool swapped = false;  // the row is not in native byte order
  DType dtype = DType::u8;  // type of a finished sample
  std::uint32_t width_px = 0;  // as encoded, including the padding of an edge tile
  std::uint32_t samples = 1;  // per pixel in this block
  std::uint32_t bits = 8;  // bits of a stored sample
  std::uint32_t sample_bytes = 1;  // size of a finished sample
  std::uint64_t decoded_row_bytes = 0, finished_row_bytes = 0;

  // True if sums run along the row before samples can be used.
  [[nodiscard]] TERRAZZO_HOST_DEVICE bool is_predicted() const noexcept {
    return step == FinishStep::horizontal || step == FinishStep::horizontal_swapped || sums_bytes();
  }
  [[nodiscard]] TERRAZZO_HOST_DEVICE bool sums_bytes() const noexcept {
    return step == FinishStep::floating || step == FinishStep::floating_then_widen;
  }
};

// A finished sample in its stored bytes; at most 16.
struct RawSample {
  std::uint64_t low = 0, high = 0;
};

// Sample `index` (pixel * samples + sample) of a row after summing. Reads only bytes of that sample. Rows of whole-byte
// samples start at a multiple of the sample's size.
[[nodiscard]] TERRAZZO_HOST_DEVICE inline RawSample finished_sample(std::byte const* row, RowFormat const& format,
                                                                    std::size_t index) noexcept {
  RawSample value;
  switch (format.step) {
    case FinishStep::floating:
    case FinishStep::floating_then_widen: {
      // Byte planes, most significant first.
      std::size_t const plane_bytes = std::size_t{format.width_px} * format.samples;
      std::uint64_t bits = 0;
      for (std::uint32_t byte = 0; byte < format.bits / 8; ++byte) {
        bits = (bits << 8) | static_cast<std::uint64_t>(row[byte * plane_bytes + index]);
      }
      value.low =
          format.step == FinishStep::floating ? bits : float24_to_float32_bits(static_cast<std::uint32_t>(bits));
      return value;
    }
    case FinishStep::unpack_bits: {
      std::uint32_t const bits = unpack_sample(row, index, format.bits);
      value.low = format.bits == 24 && format.swapped ? byte_swapped(bits) >> 8 : bits;
      return value;
    }
    case FinishStep::widen_float24: {
      std::byte const* const triple = row + 3 * index;
      std::size_t const lowest = format.swapped ? 2 : 0;
      value.low = float24_to_float32_bits(static_cast<std::uint32_t>(triple[lowest]) |
                                          (static_cast<std::uint32_t>(triple[1]) << 8) |
                                          (static_cast<std::uint32_t>(triple[2 - lowest]) << 16));
      return value;
    }
    default: break;
  }
  bool const swap = format.step == FinishStep::swap;
  bool const two_parts = format.dtype >= DType::ci16;
  switch (format.sample_bytes) {
    case 1: value.low = load_aligned<std::uint8_t>(row + index); break;
    case 2: {
      auto const bits = load_aligned<std::uint16_t>(row + index * 2);
      value.low = swap ? byte_swapped(bits) : bits;
      break;
    }
    case 4: {
      auto const bits = load_aligned<std::uint32_t>(row + index * 4);
      value.low = !swap ? bits : two_parts ? ((bits & 0xFF00FFU) << 8) | ((bits >> 8) & 0xFF00FFU) : byte_swapped(bits);
      break;
    }
    case 8: {
      auto const bits = load_aligned<std::uint64_t>(row + index * 8);
      // Swapping all eight bytes also swaps the parts: a rotation restores their order.
      std::uint64_t const reversed = byte_swapped(bits);
      value.low = !swap ? bits : two_parts ? (reversed << 32) | (reversed >> 32) : reversed;
      break;
    }
    default: {
      auto const first = load_aligned<std::uint64_t>(row + index * 16);
      auto const second = load_aligned<std::uint64_t>(row + index * 16 + 8);
      value.low = swap ? byte_swapped(first) : first;
      value.high = swap ? byte_swapped(second) : second;
      break;
    }
  }
  return value;
}

// The sums of a predictor along one row, in place, by definition; for the host version of the device's kernels.
inline void sum_row_scalar(std::byte* row, RowFormat const& format) noexcept {
  std::size_t const count = std::size_t{format.width_px} * format.samples;
  auto const sum = [&]<class T>(T, std::size_t elements) {
    for (std::size_t i = 0; i < elements; ++i) {
      T value = load_unaligned<T>(row + i * sizeof(T));
      if (format.step == FinishStep::horizontal_swapped) { value = byte_swapped(value); }
      if (i >= format.samples) {
        value = static_cast<T>(value + load_unaligned<T>(row + (i - format.samples) * sizeof(T)));
      }
      store_unaligned<T>(row + i * sizeof(T), value);
    }
  };
  if (format.sums_bytes()) { return sum(std::uint8_t{}, count * (format.bits / 8)); }
  if (!format.is_predicted()) { return; }
  switch (format.bits) {
    case 8: return sum(std::uint8_t{}, count);
    case 16: return sum(std::uint16_t{}, count);
    case 32: return sum(std::uint32_t{}, count);
    default: return sum(std::uint64_t{}, count);
  }
}

}  // namespace terrazzo::tile
