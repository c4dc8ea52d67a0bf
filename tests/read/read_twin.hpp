// SPDX-License-Identifier: Apache-2.0
//
// A whole device read without a device: the work, its batches and the placements are the engine's own, decoding and
// placing are the host twins of its kernels. What comes out must be what read() gives, bit for bit.
#pragma once

#include "codec/registry/codec.hpp"
#include "read/blocks/row_finisher.hpp"
#include "read/device/fallback/host_tiles.hpp"
#include "read/device/work.hpp"
#include "tile/place_twin.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

namespace terrazzo::reading::test {

using Bytes = std::vector<std::byte>;

// Who decodes the tiles of a twin's read.
struct TwinSplit {
  bool device = true;     // false: the host's threads decode all, as for a codec without a device decoder
  double host_share = 0;  // of the others
};

inline void decode_as_device(tiff::Image const& image, WorkTile const& tile, std::span<std::byte> output) {
  Bytes input(tile.size_bytes);
  RangeRead const range{tile.offset_bytes, input};
  tile.level->source->submit({&range, 1}).wait();
  if (image.compression == tiff::Compression::none) {
    std::ranges::copy(input, output.begin());
    return;
  }
  codec::BlockFormat format;
  format.compression = image.compression;
  format.bits_per_sample = image.bits;
  format.samples_per_pixel = image.samples_per_block();
  auto const rows = static_cast<std::uint32_t>(tile.decoded_bytes / image.row_bytes());
  codec::Workspace workspace;
  tile::TileResult const done = codec::find_codec(image.compression)
                                    ->decode_block(format, {image.block_width_px, rows}, input, output, workspace);
  EXPECT_EQ(done.status, tile::TileStatus::ok) << "block " << tile.block;
}

// As run_pipeline does it, with batches of a few tiles so that their edges are met. All tiles must be good.
inline Bytes read_by_twin(std::span<ReadJob const> jobs, tile::ResultFormat result, std::size_t result_bytes,
                          std::int64_t data_offset_bytes, TwinSplit const& split = {}) {
  ReadPlan::Impl const& plan = *jobs.front().plan;
  tiff::Image const& image = plan.level->image;
  bool const trusted = plan.dataset->trusted;
  // Only the cutting depends on the method.
  DeviceMethod const method = !split.device                                  ? DeviceMethod::host
                              : image.compression == tiff::Compression::none ? DeviceMethod::raw
                                                                             : DeviceMethod::deflate;
  Bytes memory(result_bytes, std::byte{0xCD});
  result.data = memory.data() + data_offset_bytes;
  result.separate_planes = plan.level->has_band_planes();
  result.plain = std::ranges::all_of(jobs, [&](ReadJob const& job) {
    return result.dtype == job.plan->level->dtype &&
           std::ranges::all_of(job.plan->transforms, [](auto const& t) { return t.is_identity(); });
  });
  std::vector<tile::BandTarget> bands;
  for (ReadJob const& job : jobs) {
    auto const own = band_targets(*job.plan);
    bands.insert(bands.end(), own.begin(), own.end());
  }
  DeviceWork work = collect_work(jobs, method);
  std::vector<tile::Placement> fills;
  for (WorkTile const& tile : work.sparse_tiles) {
    for (std::size_t u = 0; u < tile.use_count; ++u) {
      fills.push_back(placement_of(jobs, work.uses[tile.first_use + u], result));
    }
  }
  tile::test::fill_on_host(fills, bands, result);
  EXPECT_TRUE(work.host_tiles.empty());
  tile::RowFormat const finished = finished_format(*plan.level, trusted);
  share_with_host(work, method, split.host_share, finished.finished_row_bytes);
  MemoryBudget budget(std::numeric_limits<std::uint64_t>::max());
  for (WorkBatch const& batch : cut_batches(work, method, 3, 1 << 20)) {
    std::span<WorkTile const> const tiles = std::span(work.tiles).subspan(batch.first_tile, batch.tile_count);
    Bytes decoded(batch.output_bytes);
    std::vector<tile::TileStatus> statuses(batch.tile_count, tile::TileStatus::ok);
    if (batch.on_host) {
      decode_host_tiles(tiles, trusted, false, budget, statuses, [&](std::uint64_t at, std::span<std::byte const> row) {
        ASSERT_LE(at + row.size(), decoded.size());
        std::ranges::copy(row, decoded.begin() + static_cast<std::ptrdiff_t>(at));
      });
    }
    std::vector<tile::Placement> placements;
    for (std::size_t i = 0; i < batch.tile_count; ++i) {
      WorkTile const& tile = tiles[i];
      EXPECT_EQ(statuses[i], tile::TileStatus::ok) << "block " << tile.block;
      if (!batch.on_host) {
        decode_as_device(image, tile, std::span(decoded).subspan(tile.output_offset, tile.decoded_bytes));
      }
      for (std::size_t u = 0; u < tile.use_count; ++u) {
        tile::Placement placement = placement_of(jobs, work.uses[tile.first_use + u], result);
        placement.source_offset_bytes = tile.output_offset;
        placement.tile = static_cast<std::uint32_t>(i);
        placements.push_back(placement);
      }
    }
    EXPECT_EQ(placements.size(), batch.placement_count);
    tile::RowFormat const format = batch.on_host ? finished : RowFinisher(image, codec::OutputOrder::stored).format();
    tile::test::place_on_host({.decoded = decoded.data(),
                               .format = format,
                               .placements = placements,
                               .bands = bands,
                               .result = result,
                               .statuses = statuses,
                               .source_columns = plan.source_columns,
                               .source_rows = plan.source_rows});
  }
  return memory;
}

// The strides of a contiguous result.
inline tile::ResultFormat contiguous(ReadPlan::Impl const& plan) {
  tile::ResultFormat result;
  result.dtype = plan.dtype;
  result.sample_bytes = static_cast<std::uint32_t>(size_bytes(plan.dtype));
  result.bands = static_cast<std::uint32_t>(plan.bands.size());
  result.pixel_stride_bytes = result.sample_bytes;
  result.row_stride_bytes = result.pixel_stride_bytes * plan.out_width;
  result.band_stride_bytes = result.row_stride_bytes * plan.out_height;
  return result;
}

inline void expect_twin_read(Dataset const& dataset, ReadRequest const& request, TwinSplit const& split = {}) {
  HostArray const wanted = read(dataset, request);
  ReadJob const job{make_plan(dataset.shared_impl(), request)};
  Bytes const got = read_by_twin({&job, 1}, contiguous(*job.plan), wanted.bytes().size(), 0, split);
  EXPECT_TRUE(std::ranges::equal(got, wanted.bytes()))
      << (split.device ? "host share " + std::to_string(split.host_share) : "all by the host's threads");
}

}  // namespace terrazzo::reading::test
