// SPDX-License-Identifier: Apache-2.0
#include "gpu/place/place.hpp"

#include "gpu/place/warp_sum.cuh"
#include "gpu/runtime/check.hpp"
#include "tile/convert_sample.hpp"

#include <algorithm>

namespace terrazzo::gpu {

namespace {

using tile::FinishStep;
using tile::RowFormat;

constexpr unsigned kMaxGridY = 65535;
constexpr unsigned kMaxWarps = 8;
// Shared memory of a block without opt-in for more; rows that do not fit are summed in global memory.
constexpr std::size_t kSharedBytes = 48 * 1024;

// Properties that are compile-time constants, for the common formats.
enum class Known : std::uint8_t { nothing, native_1, native_2, native_4, native_8, floating_4 };

template <Known K>
__device__ RowFormat specialised(RowFormat format) {
  if constexpr (K == Known::floating_4) {
    format.step = FinishStep::floating;
    format.bits = 32;
    format.sample_bytes = 4;
  } else if constexpr (K != Known::nothing) {
    format.step = FinishStep::copy;
    format.sample_bytes = K == Known::native_1 ? 1 : K == Known::native_2 ? 2 : K == Known::native_4 ? 4 : 8;
  }
  return format;
}

// A caller's strides may put samples at any address. The bytes are volatile; otherwise the compiler merges both
// branches into one wide store, which faults on the device.
template <class T>
__device__ void store(std::byte* to, T value, bool aligned) {
  if (aligned) {
    *reinterpret_cast<T*>(to) = value;
    return;
  }
  auto* const bytes = reinterpret_cast<unsigned char volatile*>(to);
  for (unsigned i = 0; i < sizeof(T); ++i) { bytes[i] = static_cast<unsigned char>(value >> (8 * i)); }
}

__device__ void store_sample(std::byte* to, tile::RawSample const& value, std::uint32_t bytes, bool aligned) {
  switch (bytes) {
    case 1: *to = static_cast<std::byte>(value.low); break;
    case 2: store(to, static_cast<std::uint16_t>(value.low), aligned); break;
    case 4: store(to, static_cast<std::uint32_t>(value.low), aligned); break;
    case 8: store(to, value.low, aligned); break;
    default:
      store(to, value.low, aligned);
      store(to + 8, value.high, aligned);
      break;
  }
}

__device__ bool is_aligned(std::byte const* pointer, std::uint32_t bytes) {
  return (reinterpret_cast<std::uintptr_t>(pointer) & (bytes - 1)) == 0;
}

template <Known K>
__device__ void place_row(std::byte const* row, RowFormat const& any_format, PlaceBatch const& batch,
                          tile::Placement const& placement, std::uint32_t result_row, unsigned lane) {
  RowFormat const format = specialised<K>(any_format);
  tile::ResultFormat const& result = batch.result;
  std::byte* const first = result.data + placement.destination_offset_bytes +
                           static_cast<std::int64_t>(result_row) * result.row_stride_bytes;
  for (std::uint32_t band = 0; band < result.bands; ++band) {
    tile::BandTarget const& target = batch.bands[placement.bands_index + band];
    if (result.separate_planes && target.plane != placement.plane) { continue; }
    std::byte* const to = first + static_cast<std::int64_t>(band) * result.band_stride_bytes;
    for (std::uint32_t column = lane; column < placement.columns; column += kWarp) {
      std::int64_t const in_tile =
          batch.source_columns == nullptr
              ? placement.first_column + column
              : batch.source_columns[placement.result_column + column] + placement.column_origin;
      tile::RawSample const value =
          tile::finished_sample(row, format, static_cast<std::size_t>(in_tile) * format.samples + target.sample);
      std::byte* const at = to + static_cast<std::int64_t>(column) * result.pixel_stride_bytes;
      // Known formats are plain too, so the conversions are compiled once.
      if (K != Known::nothing || result.plain) {
        store_sample(at, value, format.sample_bytes, is_aligned(at, format.sample_bytes));
      } else if constexpr (K == Known::nothing) {
        tile::RawSample converted;
        tile::convert_sample(format.dtype, reinterpret_cast<std::byte const*>(&value), result.dtype,
                             reinterpret_cast<std::byte*>(&converted), target.transform);
        store_sample(at, converted, result.sample_bytes, is_aligned(at, result.sample_bytes));
      }
    }
  }
}

// grid.x: groups of rows, grid.y: placements. `shared_row_bytes` is 0 if rows need no sums or already have them.
template <Known K>
__global__ void place_kernel(PlaceBatch batch, std::uint32_t shared_row_bytes) {
  extern __shared__ uint4 shared_memory[];
  unsigned const lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp, warps = blockDim.x / kWarp;
  RowFormat const format = batch.format;
  std::byte* const own = reinterpret_cast<std::byte*>(shared_memory) + warp * shared_row_bytes;
  for (std::uint32_t p = blockIdx.y; p < batch.placement_count; p += gridDim.y) {
    tile::Placement const& placement = batch.placements[p];
    std::uint32_t const result_row = blockIdx.x * warps + warp;
    if (result_row >= placement.rows) { continue; }
    if (batch.statuses != nullptr && batch.statuses[placement.tile] != tile::TileStatus::ok) { continue; }
    std::int64_t const row_in_tile = batch.source_rows == nullptr
                                         ? placement.first_row + result_row
                                         : batch.source_rows[placement.result_row + result_row] + placement.row_origin;
    std::byte const* row = batch.decoded + placement.source_offset_bytes +
                           static_cast<std::uint64_t>(row_in_tile) * format.decoded_row_bytes;
    if (shared_row_bytes != 0) {
      __syncwarp();  // a slower lane may still read the previous row
      bool const vectors = is_aligned(row, 16) && format.decoded_row_bytes % 16 == 0;
      if (vectors && format.sums_bytes() && format.samples == 1) {
        sum_bytes(row, own, format.decoded_row_bytes, lane);
      } else {
        if (vectors) {
          for (std::size_t at = lane * 16; at < format.decoded_row_bytes; at += kWarp * 16) {
            *reinterpret_cast<uint4*>(own + at) = *reinterpret_cast<uint4 const*>(row + at);
          }
        } else {
          for (std::size_t at = lane; at < format.decoded_row_bytes; at += kWarp) { own[at] = row[at]; }
        }
        __syncwarp();
        sum_row(own, format, lane);
      }
      __syncwarp();
      row = own;
    }
    place_row<K>(row, format, batch, placement, result_row, lane);
  }
}

__global__ void sum_kernel(PlaceBatch batch) {
  unsigned const lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp, warps = blockDim.x / kWarp;
  std::uint64_t const row = std::uint64_t{blockIdx.x} * warps + warp;
  for (std::uint32_t tile = blockIdx.y; tile < batch.tile_count; tile += gridDim.y) {
    if (batch.statuses != nullptr && batch.statuses[tile] != tile::TileStatus::ok) { continue; }
    if ((row + 1) * batch.format.decoded_row_bytes > batch.tile_sizes[tile]) { continue; }
    sum_row(batch.decoded + batch.tile_offsets[tile] + row * batch.format.decoded_row_bytes, batch.format, lane);
  }
}

__global__ void fill_kernel(tile::Placement const* placements, std::uint32_t count, tile::BandTarget const* bands,
                            tile::ResultFormat result) {
  unsigned const lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp, warps = blockDim.x / kWarp;
  for (std::uint32_t p = blockIdx.y; p < count; p += gridDim.y) {
    tile::Placement const& placement = placements[p];
    std::uint32_t const row = blockIdx.x * warps + warp;
    if (row >= placement.rows) { continue; }
    for (std::uint32_t band = 0; band < result.bands; ++band) {
      tile::BandTarget const& target = bands[placement.bands_index + band];
      if (result.separate_planes && target.plane != placement.plane) { continue; }
      tile::RawSample value;
      value.low = tile::load_unaligned<std::uint64_t>(target.fill);
      value.high = tile::load_unaligned<std::uint64_t>(target.fill + 8);
      std::byte* const to = result.data + placement.destination_offset_bytes +
                            static_cast<std::int64_t>(row) * result.row_stride_bytes +
                            static_cast<std::int64_t>(band) * result.band_stride_bytes;
      for (std::uint32_t column = lane; column < placement.columns; column += kWarp) {
        std::byte* const at = to + static_cast<std::int64_t>(column) * result.pixel_stride_bytes;
        store_sample(at, value, result.sample_bytes, is_aligned(at, result.sample_bytes));
      }
    }
  }
}

__global__ void mask_kernel(MaskBatch batch) {
  std::uint32_t const column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= batch.width) { return; }
  tile::RawSample invalid;
  invalid.low = tile::load_unaligned<std::uint64_t>(batch.invalid);
  invalid.high = tile::load_unaligned<std::uint64_t>(batch.invalid + 8);
  for (std::uint32_t row = blockIdx.y; row < batch.height; row += gridDim.y) {
    if (batch.mask[std::uint64_t{row} * batch.width + column] != std::byte{0}) { continue; }
    std::byte* const at = batch.data + static_cast<std::int64_t>(row) * batch.row_stride_bytes +
                          static_cast<std::int64_t>(column) * batch.pixel_stride_bytes;
    store_sample(at, invalid, batch.sample_bytes, is_aligned(at, batch.sample_bytes));
  }
}

Known known_format(RowFormat const& format, bool plain) {
  if (!plain) { return Known::nothing; }
  if (format.step == FinishStep::floating && format.bits == 32) { return Known::floating_4; }
  // After summing, a predicted row is a native one.
  bool const native = format.step == FinishStep::copy || format.step == FinishStep::horizontal ||
                      format.step == FinishStep::horizontal_swapped;
  if (!native) { return Known::nothing; }
  switch (format.sample_bytes) {
    case 1: return Known::native_1;
    case 2: return Known::native_2;
    case 4: return Known::native_4;
    case 8: return Known::native_8;
    default: return Known::nothing;
  }
}

template <Known K>
void launch_place(PlaceBatch const& batch, std::uint32_t shared_row_bytes, unsigned warps, cudaStream_t stream) {
  dim3 const grid((batch.max_rows + warps - 1) / warps, std::min(batch.placement_count, kMaxGridY));
  place_kernel<K><<<grid, warps * kWarp, std::size_t{shared_row_bytes} * warps, stream>>>(batch, shared_row_bytes);
  check_launch("placing tiles");
}

}  // namespace

bool has_kernels_for_current_device() noexcept {
  cudaFuncAttributes attributes{};
  bool const found = cudaFuncGetAttributes(&attributes, fill_kernel) == cudaSuccess;
  (void)cudaGetLastError();
  return found;
}

void place_tiles(PlaceBatch const& batch, cudaStream_t stream) {
  if (batch.placement_count == 0 || batch.max_rows == 0) { return; }
  std::uint64_t const row_bytes = (batch.format.decoded_row_bytes + 15) / 16 * 16;
  std::uint32_t shared_row_bytes = 0;
  unsigned warps = kMaxWarps;
  if (batch.format.is_predicted()) {
    if (row_bytes <= kSharedBytes) {
      shared_row_bytes = static_cast<std::uint32_t>(row_bytes);
      warps = static_cast<unsigned>(std::min<std::uint64_t>(kMaxWarps, kSharedBytes / row_bytes));
    } else {
      dim3 const grid((batch.tile_rows + kMaxWarps - 1) / kMaxWarps, std::min(batch.tile_count, kMaxGridY));
      sum_kernel<<<grid, kMaxWarps * kWarp, 0, stream>>>(batch);
      check_launch("summing rows");
    }
  }
  switch (known_format(batch.format, batch.result.plain)) {
    case Known::nothing: return launch_place<Known::nothing>(batch, shared_row_bytes, warps, stream);
    case Known::native_1: return launch_place<Known::native_1>(batch, shared_row_bytes, warps, stream);
    case Known::native_2: return launch_place<Known::native_2>(batch, shared_row_bytes, warps, stream);
    case Known::native_4: return launch_place<Known::native_4>(batch, shared_row_bytes, warps, stream);
    case Known::native_8: return launch_place<Known::native_8>(batch, shared_row_bytes, warps, stream);
    case Known::floating_4: return launch_place<Known::floating_4>(batch, shared_row_bytes, warps, stream);
  }
}

void fill_rectangles(tile::Placement const* placements, std::uint32_t count, std::uint32_t max_rows,
                     tile::BandTarget const* bands, tile::ResultFormat const& result, cudaStream_t stream) {
  if (count == 0 || max_rows == 0) { return; }
  dim3 const grid((max_rows + kMaxWarps - 1) / kMaxWarps, std::min(count, kMaxGridY));
  fill_kernel<<<grid, kMaxWarps * kWarp, 0, stream>>>(placements, count, bands, result);
  check_launch("filling missing tiles");
}

void apply_mask(MaskBatch const& batch, cudaStream_t stream) {
  if (batch.width == 0 || batch.height == 0) { return; }
  constexpr unsigned kThreads = 256;
  dim3 const grid((batch.width + kThreads - 1) / kThreads, std::min(batch.height, kMaxGridY));
  mask_kernel<<<grid, kThreads, 0, stream>>>(batch);
  check_launch("applying a mask");
}

}  // namespace terrazzo::gpu
