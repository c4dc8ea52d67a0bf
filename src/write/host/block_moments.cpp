// SPDX-License-Identifier: Apache-2.0
#include "write/host/block_moments.hpp"

#include "tile/convert_sample.hpp"
#include "tile/row_moments.hpp"
#include "write/host/block_cutter.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace terrazzo::writing {

namespace {

struct BlockRows {
  std::uint32_t columns, rows, samples;
  std::size_t row_bytes;
  std::byte const* data;
  std::byte const* mask;  // null: none
  std::int64_t mask_row_stride, mask_pixel_stride;
};

// T: the sample type, or the type of each of the two parts of complex samples. As in GDAL, only the real part counts.
template <class T, std::size_t Parts>
std::vector<Moments> moments_of(BlockRows const& block, Nodata const* nodata, DType dtype) {
  constexpr std::size_t kSampleBytes = Parts * sizeof(T);
  std::byte marker_bytes[16] = {};
  if (nodata != nullptr) { store_nodata(*nodata, dtype, marker_bytes); }
  T marker;
  std::memcpy(&marker, marker_bytes, sizeof marker);
  std::vector<Moments> result(block.samples);
  for (std::uint32_t s = 0; s < block.samples; ++s) {
    for (std::uint32_t y = 0; y < block.rows; ++y) {
      std::byte const* const row = block.data + y * block.row_bytes + s * kSampleBytes;
      std::byte const* const mask = block.mask != nullptr ? block.mask + y * block.mask_row_stride : nullptr;
      tile::RowSums sums;
      for (std::uint32_t x = 0; x < block.columns; ++x) {
        std::byte const* const at = row + std::size_t{x} * block.samples * kSampleBytes;
        if (mask != nullptr && mask[x * block.mask_pixel_stride] == std::byte{0}) { continue; }
        T sample;
        std::memcpy(&sample, at, sizeof sample);
        if (nodata != nullptr && tile::is_nodata_sample(sample, marker)) { continue; }
        sums.add(tile::value_of_sample(sample));
      }
      result[s].merge(sums.moments());
    }
  }
  return result;
}

}  // namespace

std::vector<Moments> block_moments(FilePlan const& plan, LevelPlan const& level, ConstHostRows const& rows,
                                   TileId block, std::span<std::byte const> samples) {
  BlockRows part{};
  std::uint32_t const column = block.column * level.block_width;
  part.columns = std::min(level.block_width, level.width - column);
  part.rows = level.rows_of(block.row);
  part.samples = plan.samples_per_block;
  part.row_bytes = std::size_t{level.block_width} * plan.samples_per_block * plan.sample_bytes();
  part.data = samples.data();
  if (rows.mask.data != nullptr) {
    part.mask_row_stride = rows.mask.row_stride_bytes;
    part.mask_pixel_stride = rows.mask.pixel_stride_bytes;
    part.mask = static_cast<std::byte const*>(rows.mask.data) +
                std::int64_t{level.first_row(block.row) - rows.first} * part.mask_row_stride +
                std::int64_t{column} * part.mask_pixel_stride;
  }
  auto const& nodata = plan.options.nodata;
  Nodata const* const marker = nodata && nodata->representable ? &*nodata : nullptr;
  DType const dtype = plan.options.dtype;
  std::vector<Moments> moments;
  tile::with_part_type(dtype, [&]<class T>(std::type_identity<T>) {
    moments = is_complex(dtype) ? moments_of<T, 2>(part, marker, dtype) : moments_of<T, 1>(part, marker, dtype);
  });
  return moments;
}

}  // namespace terrazzo::writing
