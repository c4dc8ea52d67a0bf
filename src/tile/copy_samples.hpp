// SPDX-License-Identifier: Apache-2.0
//
// Samples of host memory from one stride to another, as they are.
#pragma once

#include <cstddef>
#include <cstring>

namespace terrazzo::tile {

// The size is known to the compiler so that copies are moves.
template <std::size_t Bytes>
void copy_strided(std::byte const* from, std::ptrdiff_t from_stride_bytes, std::byte* to,
                  std::ptrdiff_t to_stride_bytes, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(to, from, Bytes);
    from += from_stride_bytes;
    to += to_stride_bytes;
  }
}

// `sample_bytes` is the size of a DType. Strides are of any sign; the two do not overlap.
inline void copy_samples(std::byte const* from, std::ptrdiff_t from_stride_bytes, std::byte* to,
                         std::ptrdiff_t to_stride_bytes, std::size_t count, std::size_t sample_bytes) noexcept {
  auto const together = static_cast<std::ptrdiff_t>(sample_bytes);
  if (from_stride_bytes == together && to_stride_bytes == together) {
    std::memcpy(to, from, sample_bytes * count);
    return;
  }
  switch (sample_bytes) {
    case 1: return copy_strided<1>(from, from_stride_bytes, to, to_stride_bytes, count);
    case 2: return copy_strided<2>(from, from_stride_bytes, to, to_stride_bytes, count);
    case 4: return copy_strided<4>(from, from_stride_bytes, to, to_stride_bytes, count);
    case 8: return copy_strided<8>(from, from_stride_bytes, to, to_stride_bytes, count);
    default: return copy_strided<16>(from, from_stride_bytes, to, to_stride_bytes, count);
  }
}

}  // namespace terrazzo::tile
