// SPDX-License-Identifier: Apache-2.0
//
// The host twin of src/gpu/place/place.cu: the same steps on the same values, one sample after the other.
#pragma once

#include "tile/convert_sample.hpp"
#include "tile/placement.hpp"
#include "tile/row_format.hpp"
#include "tile/tile_status.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace terrazzo::tile::test {

struct PlaceTwin {
  std::byte const* decoded = nullptr;
  RowFormat format{};
  std::span<Placement const> placements{};
  std::span<BandTarget const> bands{};
  ResultFormat result{};
  std::span<TileStatus const> statuses{};  // empty: all are ok
  std::vector<std::uint32_t> source_columns{}, source_rows{};  // of a resampled result
};

inline void store_sample(std::byte* to, RawSample const& value, std::uint32_t bytes) {
  std::byte raw[16];
  std::memcpy(raw, &value.low, 8);
  std::memcpy(raw + 8, &value.high, 8);
  std::memcpy(to, raw, bytes);
}

inline void place_on_host(PlaceTwin const& batch) {
  RowFormat const& format = batch.format;
  ResultFormat const& result = batch.result;
  bool const resampled = !batch.source_rows.empty();
  std::vector<std::uint64_t> aligned_row((format.decoded_row_bytes + 7) / 8);  // samples want their alignment
  auto* const row = reinterpret_cast<std::byte*>(aligned_row.data());
  for (Placement const& p : batch.placements) {
    if (!batch.statuses.empty() && batch.statuses[p.tile] != TileStatus::ok) { continue; }
    for (std::uint32_t r = 0; r < p.rows; ++r) {
      std::int64_t const row_in_tile =
          resampled ? batch.source_rows[p.result_row + r] + p.row_origin : std::int64_t{p.first_row} + r;
      std::memcpy(
          row,
          batch.decoded + p.source_offset_bytes + static_cast<std::uint64_t>(row_in_tile) * format.decoded_row_bytes,
          static_cast<std::size_t>(format.decoded_row_bytes));
      sum_row_scalar(row, format);
      for (std::uint32_t band = 0; band < result.bands; ++band) {
        BandTarget const& target = batch.bands[p.bands_index + band];
        if (result.separate_planes && target.plane != p.plane) { continue; }
        std::byte* const to = result.data + p.destination_offset_bytes +
                              static_cast<std::int64_t>(r) * result.row_stride_bytes +
                              static_cast<std::int64_t>(band) * result.band_stride_bytes;
        for (std::uint32_t c = 0; c < p.columns; ++c) {
          std::int64_t const in_tile = resampled ? batch.source_columns[p.result_column + c] + p.column_origin
                                                 : std::int64_t{p.first_column} + c;
          RawSample const value =
              finished_sample(row, format, static_cast<std::size_t>(in_tile) * format.samples + target.sample);
          std::byte* const at = to + static_cast<std::int64_t>(c) * result.pixel_stride_bytes;
          if (result.plain) {
            store_sample(at, value, format.sample_bytes);
            continue;
          }
          std::byte stored[16], converted[16]{};
          store_sample(stored, value, 16);
          convert_sample(format.dtype, stored, result.dtype, converted, target.transform);
          std::memcpy(at, converted, result.sample_bytes);
        }
      }
    }
  }
}

inline void fill_on_host(std::span<Placement const> placements, std::span<BandTarget const> bands,
                         ResultFormat const& result) {
  for (Placement const& p : placements) {
    for (std::uint32_t r = 0; r < p.rows; ++r) {
      for (std::uint32_t band = 0; band < result.bands; ++band) {
        BandTarget const& target = bands[p.bands_index + band];
        if (result.separate_planes && target.plane != p.plane) { continue; }
        for (std::uint32_t c = 0; c < p.columns; ++c) {
          std::memcpy(result.data + p.destination_offset_bytes +
                          static_cast<std::int64_t>(r) * result.row_stride_bytes +
                          static_cast<std::int64_t>(band) * result.band_stride_bytes +
                          static_cast<std::int64_t>(c) * result.pixel_stride_bytes,
                      target.fill, result.sample_bytes);
        }
      }
    }
  }
}

}  // namespace terrazzo::tile::test
