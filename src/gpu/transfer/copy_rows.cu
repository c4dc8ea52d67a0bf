// SPDX-License-Identifier: Apache-2.0
//
// The driver copies rows with contiguous pixels on both sides; other rows are copied sample by sample, one thread each,
// in the order of the destination.
#include "gpu/transfer/copy_rows.hpp"

#include "gpu/runtime/check.hpp"
#include "tile/view_strides.hpp"

#include <algorithm>
#include <cstdint>

namespace terrazzo::gpu {
namespace {

constexpr std::uint32_t kThreads = 256;
constexpr std::uint64_t kMaxBlocks = 1U << 20;

struct alignas(16) Two64 {
  std::uint64_t low, high;
};

template <class T>
__global__ void __launch_bounds__(kThreads) copy_kernel(ConstDeviceView from, DeviceView to) {
  std::uint64_t const count = std::uint64_t{to.height} * to.width * to.bands;
  std::uint64_t const step = std::uint64_t{gridDim.x} * kThreads;
  bool const bands_apart = to.band_stride_bytes > to.pixel_stride_bytes || to.band_stride_bytes < 0;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < count; i += step) {
    std::uint64_t band, column, row;
    if (bands_apart) {
      column = i % to.width;
      row = i / to.width % to.height;
      band = i / to.width / to.height;
    } else {
      band = i % to.bands;
      column = i / to.bands % to.width;
      row = i / to.bands / to.width;
    }
    auto const offset = [&](auto const& view) {
      return static_cast<std::int64_t>(band) * view.band_stride_bytes +
             static_cast<std::int64_t>(row) * view.row_stride_bytes +
             static_cast<std::int64_t>(column) * view.pixel_stride_bytes;
    };
    *reinterpret_cast<T*>(static_cast<std::byte*>(to.data) + offset(to)) =
        *reinterpret_cast<T const*>(static_cast<std::byte const*>(from.data) + offset(from));
  }
}

template <class T>
void launch(ConstDeviceView const& from, DeviceView const& to, cudaStream_t stream) {
  std::uint64_t const count = std::uint64_t{to.height} * to.width * to.bands;
  auto const blocks = static_cast<unsigned>(std::min<std::uint64_t>((count + kThreads - 1) / kThreads, kMaxBlocks));
  copy_kernel<T><<<blocks, kThreads, 0, stream>>>(from, to);
  check_launch("copying rows");
}

void copy_view(ConstDeviceView const& from, DeviceView const& to, cudaStream_t stream) {
  if (to.height == 0 || to.width == 0) { return; }
  std::size_t const sample = size_bytes(to.dtype);
  std::size_t const row_bytes = sample * to.bands * to.width;
  // A pitch that the driver accepts. Rows may also overlap, or be a single row of any stride.
  auto const is_pitch = [row_bytes](std::int64_t stride) {
    return stride >= static_cast<std::int64_t>(row_bytes) && stride <= std::int64_t{0x7FFFFFFF};
  };
  if (tile::has_pixels_together(from, to.bands, sample) && tile::has_pixels_together(to, to.bands, sample) &&
      is_pitch(from.row_stride_bytes) && is_pitch(to.row_stride_bytes)) {
    check_cuda(cudaMemcpy2DAsync(to.data, static_cast<std::size_t>(to.row_stride_bytes), from.data,
                                 static_cast<std::size_t>(from.row_stride_bytes), row_bytes, to.height,
                                 cudaMemcpyDeviceToDevice, stream),
               "copying rows");
    return;
  }
  // Complex samples are aligned to their parts only, so 16 bytes are copied at once only if the address is aligned.
  if (!is_aligned(from, sample) || !is_aligned(to, sample)) {
    // Copy bytes: every byte of a sample is a band of a separate copy.
    for (std::size_t byte = 0; byte < sample; ++byte) {
      ConstDeviceView a = from;
      DeviceView b = to;
      a.data = static_cast<std::byte const*>(from.data) + byte;
      b.data = static_cast<std::byte*>(to.data) + byte;
      launch<std::uint8_t>(a, b, stream);
    }
    return;
  }
  switch (sample) {
    case 1: return launch<std::uint8_t>(from, to, stream);
    case 2: return launch<std::uint16_t>(from, to, stream);
    case 4: return launch<std::uint32_t>(from, to, stream);
    case 8: return launch<std::uint64_t>(from, to, stream);
    default: return launch<Two64>(from, to, stream);
  }
}

}  // namespace

void copy_rows(ConstDeviceRows const& from, DeviceRows const& to, cudaStream_t stream) {
  copy_view(from.pixels, to.pixels, stream);
  if (to.mask.data != nullptr) { copy_view(from.mask, to.mask, stream); }
}

}  // namespace terrazzo::gpu
