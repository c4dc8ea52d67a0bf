// SPDX-License-Identifier: Apache-2.0
//
// Tiles that the host's threads decode for a device read; placing_test.cpp has the layouts.
#include "read/device/fallback/host_tiles.hpp"

#include "codec/libtiff/decoder.hpp"
#include "read/images.hpp"
#include "read/read_twin.hpp"
#include "support/data_folder.hpp"
#include "support/temp_folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace terrazzo::reading {
namespace {

using test::Bytes;
using test::TwinSplit;
using tile::TileStatus;

// Every codec, colours that become RGB, palettes, masks of one bit: finished rows are what a read gives.
TEST(HostTiles, AreThePixelsOfEveryTestFile) {
  std::size_t files = 0;
  for (auto const& entry : std::filesystem::directory_iterator(testing::data_folder())) {
    if (entry.path().extension() != ".tif") { continue; }
    SCOPED_TRACE(entry.path().filename().string());
    Dataset const dataset = open(entry.path().string());
    ++files;
    // A machine without libtiff, as test binaries are carried to, cannot decode what only libtiff can.
    if (dataset.info().layout.compression_name.starts_with("ccitt") && !codec::LibtiffDecoder::available()) {
      continue;
    }
    Info const& info = dataset.info();
    test::expect_twin_read(dataset, {}, TwinSplit{.device = false});
    test::expect_twin_read(dataset,
                           {.window = Window{info.width / 3, info.height / 3, info.width / 2, info.height / 2},
                            .bands = {1},
                            .dtype = DType::f32},
                           TwinSplit{.device = false});
    test::expect_twin_read(dataset, {.target_size = TargetSize{info.width / 2 + 1, info.height / 3 + 1}},
                           TwinSplit{.device = false});
  }
  EXPECT_GE(files, 20u);
}

struct Decoded {
  std::vector<TileStatus> statuses;
  HostTileCounts counts;
  std::uint64_t bytes = 0;
};

Decoded decode_all(Dataset const& dataset, bool strict) {
  ReadJob const job{make_plan(dataset.shared_impl(), {})};
  DeviceWork work = collect_work({&job, 1}, DeviceMethod::host);
  tile::RowFormat const format = finished_format(*job.plan->level, false);
  share_with_host(work, DeviceMethod::host, 0, format.finished_row_bytes);
  EXPECT_EQ(cut_batches(work, DeviceMethod::host, 1000, 1 << 30).size(), 1u);
  Decoded decoded;
  decoded.statuses.assign(work.tiles.size(), TileStatus::sparse);
  MemoryBudget budget(1 << 20);
  decoded.counts =
      decode_host_tiles(work.tiles, false, strict, budget, decoded.statuses,
                        [&](std::uint64_t, std::span<std::byte const> row) { decoded.bytes += row.size(); });
  return decoded;
}

ImageSpec tiled() { return {.width = 48, .height = 32, .tile_width = 16, .tile_height = 16, .compression = kPackBits}; }

TEST(HostTiles, ThatAreBadHaveAStatusAndSpareTheOthers) {
  ImageSpec spec = tiled();
  spec.edit = [](std::uint64_t block, Bytes& bytes) {
    if (block == 1) { bytes.resize(10); }
    if (block == 4) { std::ranges::fill(bytes, std::byte{0x80}); }
  };
  Decoded const decoded = decode_all(*Opened(image<std::uint8_t>(spec)), false);
  ASSERT_EQ(decoded.statuses.size(), 6u);
  for (std::size_t i = 0; i < 6; ++i) { EXPECT_EQ(decoded.statuses[i] == TileStatus::ok, i != 1 && i != 4) << i; }
  EXPECT_EQ(decoded.bytes, 4u * 256) << "rows of the good ones only";
}

TEST(HostTiles, WithSurplusDataAreCountedAndBadWhenStrict) {
  ImageSpec spec = tiled();
  spec.edit = [](std::uint64_t block, Bytes& bytes) {
    if (block == 2) { bytes.resize(bytes.size() + 50); }
  };
  Opened const opened(image<std::uint8_t>(spec));
  Decoded const tolerant = decode_all(*opened, false);
  EXPECT_EQ(tolerant.counts.surplus_tiles, 1u);
  EXPECT_EQ(std::ranges::count(tolerant.statuses, TileStatus::ok), 6);
  Decoded const strict = decode_all(*opened, true);
  EXPECT_EQ(strict.counts.surplus_tiles, 1u);
  EXPECT_NE(strict.statuses[2], TileStatus::ok);
  EXPECT_EQ(std::ranges::count(strict.statuses, TileStatus::ok), 5);
}

// The tile at the lower right edge has 8 of its 16 rows in the image, and as many columns.
TEST(HostTiles, ThatEndInsideTheirPaddingAreGood) {
  for (std::size_t const bytes : {7u * 16 + 8, 7u * 16 + 7}) {
    ImageSpec spec = tiled();
    spec.width = 40;
    spec.height = 24;
    spec.edit = [=](std::uint64_t block, Bytes& stored) {
      if (block == 5) { stored.resize(bytes + (bytes + 127) / 128); }
    };
    Decoded const decoded = decode_all(*Opened(image<std::uint8_t>(spec)), false);
    ASSERT_EQ(decoded.statuses.size(), 6u);
    EXPECT_EQ(decoded.statuses[5] == TileStatus::ok, bytes == 7 * 16 + 8);
  }
}

TEST(HostTiles, CountTheBytesTheyRead) {
  testing::TempFolder const folder;
  Decoded const decoded = decode_all(open(folder.write("a.tif", image<std::uint8_t>(tiled()).bytes())), false);
  EXPECT_EQ(decoded.counts.bytes_read, 6u * 258);
  EXPECT_EQ(decoded.counts.surplus_tiles, 0u);
}

TEST(HostTiles, KeepTheMemoryLimit) {
  Opened const opened(image<std::uint8_t>(tiled()));
  ReadJob const job{make_plan(opened->shared_impl(), {})};
  DeviceWork work = collect_work({&job, 1}, DeviceMethod::host);
  std::vector<TileStatus> statuses(work.tiles.size());
  MemoryBudget budget(100);
  EXPECT_EQ(failure_of([&] {
              decode_host_tiles(work.tiles, false, false, budget, statuses,
                                [](std::uint64_t, std::span<std::byte const>) {});
            }).kind(),
            ErrorKind::limit);
}

TEST(FinishedFormat, IsNativeSamplesSideBySide) {
  ImageSpec spec = tiled();
  spec.bands = 3;
  spec.order = std::endian::big;
  Opened const opened(image<std::uint16_t>(spec));
  tile::RowFormat const format = finished_format(*opened->shared_impl()->levels[0], false);
  EXPECT_EQ(format.step, tile::FinishStep::copy);
  EXPECT_FALSE(format.is_predicted());
  EXPECT_EQ(format.dtype, DType::u16);
  EXPECT_EQ(format.samples, 3u);
  EXPECT_EQ(format.finished_row_bytes, 16u * 3 * 2);
  EXPECT_EQ(format.decoded_row_bytes, format.finished_row_bytes);
  spec.separate = true;
  Opened const planes(image<std::uint16_t>(spec));
  EXPECT_EQ(finished_format(*planes->shared_impl()->levels[0], false).samples, 1u);
}

}  // namespace
}  // namespace terrazzo::reading
