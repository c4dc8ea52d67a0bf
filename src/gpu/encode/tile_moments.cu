// SPDX-License-Identifier: Apache-2.0
//
// The order of additions is part of the result: one thread adds up a row, from left to right, and one thread merges the
// rows of a tile, from top to bottom. To keep loads contiguous, a block first copies columns of many rows to shared
// memory, as doubles; pixels that do not count are NaN there.
#include "gpu/encode/cut.hpp"
#include "gpu/runtime/check.hpp"
#include "tile/convert_sample.hpp"
#include "tile/cut_row.hpp"
#include "tile/row_moments.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstring>

namespace terrazzo::gpu {
namespace {

constexpr std::uint32_t kThreads = 128;  // as many rows and bands at once
constexpr std::uint32_t kColumns = 16;  // columns at once; 17 KiB of shared memory allow 13 blocks per multiprocessor
constexpr std::uint32_t kMergeThreads = 32;
constexpr std::uint32_t kMaxGridY = 65535;

struct Marker {
  bool is_there = false;
  std::byte bytes[16] = {};
};

// The rows and bands of a tile that a block handles.
struct Share {
  std::uint32_t bands;  // bands at once
  std::uint32_t band_groups;
  std::uint32_t rows;  // rows at once
  std::uint32_t row_groups;
};

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 1, std::uint8_t,
                                  std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                                     std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

template <class T>
__device__ double value_of(std::byte const* at, tile::NanRule<BitsOf<T>> const& rule, T marker, bool has_marker) {
  BitsOf<T> const bits = rule.apply(tile::load_aligned<BitsOf<T>>(at));
  T sample;
  memcpy(&sample, &bits, sizeof(T));
  if (has_marker && tile::is_nodata_sample(sample, marker)) { return std::numeric_limits<double>::quiet_NaN(); }
  return tile::value_of_sample(sample);
}

// `Single`: one band at a time, known at compile time, since the code divides by the number of bands.
template <class T, bool Single>
__global__ void __launch_bounds__(kThreads)
    row_kernel(CutBatch batch, CutFormat format, Marker marker_bytes, Share share, Moments* row_moments) {
  // One column more, so that the threads of a warp, which are rows and bands, use different banks.
  __shared__ double staged[kThreads * (kColumns + 1)];
  T const marker = tile::load_unaligned<T>(marker_bytes.bytes);
  tile::NanRule<BitsOf<T>> rule;
  rule.replaces = format.replaces_nan;
  rule.sentinel = tile::load_unaligned<BitsOf<T>>(format.empty);

  std::uint32_t const bands = Single ? 1 : share.bands;
  std::uint32_t const first_row = blockIdx.x / share.band_groups * share.rows;
  std::uint32_t const first_band = blockIdx.x % share.band_groups * bands;
  std::uint32_t const pitch = (kColumns + 1) * bands;
  std::uint32_t const own_row = threadIdx.x / bands, own_band = threadIdx.x % bands;
  for (std::uint32_t t = blockIdx.y; t < batch.count; t += gridDim.y) {
    CutTile const tile = batch.tiles[t];
    if (first_row >= tile.real_rows) { continue; }  // the same for all threads of the block
    ConstDeviceRows const& rows = batch.rows[tile.rows];
    ConstDeviceView const pixels = rows.pixels, mask = rows.mask;
    std::int64_t const top = std::int64_t{tile.first_row} - rows.first + first_row;
    std::byte const* const corner = static_cast<std::byte const*>(pixels.data) + top * pixels.row_stride_bytes +
                                    std::int64_t{tile.first_column} * pixels.pixel_stride_bytes +
                                    std::int64_t{tile.first_band + first_band} * pixels.band_stride_bytes;
    std::byte const* const mask_corner = static_cast<std::byte const*>(mask.data) + top * mask.row_stride_bytes +
                                         std::int64_t{tile.first_column} * mask.pixel_stride_bytes;
    std::uint32_t const row_count = min(share.rows, tile.real_rows - first_row);
    std::uint32_t const band_count = min(bands, format.samples - first_band);
    bool const bands_together = abs(pixels.band_stride_bytes) < abs(pixels.pixel_stride_bytes);
    tile::RowSums sums;
    for (std::uint32_t left = 0; left < tile.real_columns; left += kColumns) {
      for (std::uint32_t i = threadIdx.x; i < share.rows * kColumns * bands; i += kThreads) {
        // Neighbouring threads load neighbouring samples.
        std::uint32_t const outer = i / (kColumns * bands), inner = i % (kColumns * bands);
        std::uint32_t const column = bands_together ? inner / bands : inner % kColumns;
        std::uint32_t const band = bands_together ? inner % bands : inner / kColumns;
        if (outer >= row_count || band >= band_count || left + column >= tile.real_columns) { continue; }
        std::int64_t const x = std::int64_t{left} + column;
        bool const is_valid = mask.data == nullptr ||
                              mask_corner[outer * mask.row_stride_bytes + x * mask.pixel_stride_bytes] != std::byte{0};
        staged[outer * pitch + column * bands + band] =
            is_valid ? value_of<T>(corner + outer * pixels.row_stride_bytes + x * pixels.pixel_stride_bytes +
                                       band * pixels.band_stride_bytes,
                                   rule, marker, marker_bytes.is_there)
                     : std::numeric_limits<double>::quiet_NaN();
      }
      __syncthreads();
      if (own_row < row_count && own_band < band_count) {
        std::uint32_t const columns = min(kColumns, tile.real_columns - left);
        for (std::uint32_t column = 0; column < columns; ++column) {
          sums.add(staged[own_row * pitch + column * bands + own_band]);
        }
      }
      __syncthreads();
    }
    if (own_row < row_count && own_band < band_count) {
      row_moments[(std::uint64_t{t} * batch.max_height + first_row + own_row) * format.samples + first_band +
                  own_band] = sums.moments();
    }
  }
}

__global__ void __launch_bounds__(kMergeThreads)
    merge_kernel(CutBatch batch, std::uint32_t samples, Moments const* row_moments, Moments* moments) {
  std::uint64_t const total = std::uint64_t{batch.count} * samples;
  std::uint64_t const stride = std::uint64_t{gridDim.x} * kMergeThreads;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kMergeThreads + threadIdx.x; i < total; i += stride) {
    auto const t = static_cast<std::uint32_t>(i / samples);
    Moments all;
    Moments const* const first = row_moments + std::uint64_t{t} * batch.max_height * samples + i % samples;
    std::uint32_t const rows = batch.tiles[t].real_rows;
    for (std::uint32_t y = 0; y < rows; ++y) { all.merge(first[std::uint64_t{y} * samples]); }
    moments[i] = all;
  }
}

Share make_share(CutBatch const& batch, std::uint32_t samples) {
  Share share{};
  share.bands = std::min(samples, kThreads);
  share.band_groups = samples / share.bands + (samples % share.bands != 0 ? 1 : 0);
  share.rows = std::min(kThreads / share.bands, batch.max_height);
  share.row_groups = batch.max_height / share.rows + (batch.max_height % share.rows != 0 ? 1 : 0);
  return share;
}

}  // namespace

void tile_moments(CutBatch const& batch, CutFormat const& any_format, std::byte const* marker, Moments* row_moments,
                  Moments* moments, cudaStream_t stream) {
  if (batch.count == 0 || batch.max_height == 0 || any_format.samples == 0) { return; }
  CutFormat format = any_format;
  format.replaces_nan = format.replaces_nan && is_floating(format.dtype);
  Marker marker_bytes;
  if (marker != nullptr) {
    marker_bytes.is_there = true;
    std::memcpy(marker_bytes.bytes, marker, size_bytes(format.dtype));
  }
  Share const share = make_share(batch, format.samples);
  dim3 const grid(share.row_groups * share.band_groups, std::min(batch.count, kMaxGridY));
  // Of complex samples, only the real part counts, which comes first.
  tile::with_part_type(format.dtype, [&]<class T>(std::type_identity<T>) {
    if (share.bands == 1) {
      row_kernel<T, true><<<grid, kThreads, 0, stream>>>(batch, format, marker_bytes, share, row_moments);
    } else {
      row_kernel<T, false><<<grid, kThreads, 0, stream>>>(batch, format, marker_bytes, share, row_moments);
    }
  });
  check_launch("moments of rows");
  std::uint64_t const threads = std::uint64_t{batch.count} * format.samples;
  auto const blocks =
      static_cast<unsigned>(std::min<std::uint64_t>((threads + kMergeThreads - 1) / kMergeThreads, 65536));
  merge_kernel<<<blocks, kMergeThreads, 0, stream>>>(batch, format.samples, row_moments, moments);
  check_launch("moments of tiles");
}

}  // namespace terrazzo::gpu
