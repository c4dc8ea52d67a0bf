// SPDX-License-Identifier: Apache-2.0
//
// Files of the device engine: the pixels, tags and layout of the host's, and the same bytes however the rows came.
#include "write/device/engine.hpp"

#include "write/device_fixture.hpp"
#include "write/random_file.hpp"

#include "gpu/runtime/copy_back.hpp"
#include "gpu/vendor/nvjpeg2k_encode.hpp"
#include "gpu/vendor/nvjpeg_encode.hpp"
#include "support/counting_allocator.hpp"
#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace terrazzo::writing {
namespace {

using DeviceWriter = OnDevice;
using terrazzo::testing::CountingAllocator;

TEST_F(DeviceWriter, WritesTheHostsFileButForCompressedBytes) {
  int files = 0;
  for (unsigned seed = 1000; seed < 1250; ++seed) {
    Dice dice(seed);
    Image image = make_image(dice.pick(kTypes), 1 + dice.roll(5), dice.size(), dice.size());
    if (dice.roll(3) == 0) { add_mask(image); }
    WriteOptions const options = random_options(dice, image);
    SCOPED_TRACE(std::to_string(seed) + ": " + describe(options, image));
    std::vector<std::byte> host;
    try {
      host = written(image, options);
    } catch (Error const& error) { continue; }
    ++files;
    WriteOptions const device = on_the_device(options, dice.pick({std::uint64_t{0}, std::uint64_t{1} << 24}));
    std::vector<std::byte> const fed_by_host = written(image, device, ragged(image.height, seed));
    ASSERT_TRUE(pixels_of(fed_by_host) == image.bytes);
    if (options.mask) { ASSERT_TRUE(mask_of(fed_by_host) == image.mask); }
    expect_same_layout(fed_by_host, host);
    Order const order = dice.pick(kOrders);
    WriteOptions const automatic = [&] {
      WriteOptions left_open = device;
      left_open.engine = Engine::automatic;
      return left_open;
    }();
    std::vector<std::byte> const eager = written_from_device(image, order, automatic, {image.height});
    ASSERT_TRUE(pixels_of(eager) == image.bytes);
    ASSERT_TRUE(written_from_device(image, order, automatic, ragged(image.height, seed + 1)) == eager);
    if (HasFailure()) { return; }
  }
  EXPECT_GT(files, 150);
}

TEST_F(DeviceWriter, EncodesTilesOfDeviceRowsForAnotherWriter) {
  Image image = make_image(DType::f32, 2, 331, 250);
  WriteOptions const options = with([&](WriteOptions& o) {
    o.dtype = image.dtype;
    o.bands = image.bands;
    o.cog = true;
  });
  DeviceBytes const memory(image.bytes);
  DeviceView const view = on_device(image.view(), image.bytes, memory);
  EncodedTiles const tiles = encode_tiles(view, {}, image.width, image.height, options);
  std::vector<std::byte> file;
  Writer writer = create(memory_sink(file), image.width, image.height, options);
  for (EncodedTile const& tile : tiles.tiles) { writer.write_encoded(tile.id, tiles.bytes_of(tile)); }
  writer.close();
  EXPECT_TRUE(pixels_of(file) == image.bytes);
  expect_same_layout(file, written(image, options));
}

TEST_F(DeviceWriter, MakesTheHostsOverviewsAndStatisticsBitForBit) {
  for (DType const dtype : {DType::u8, DType::i16, DType::f16, DType::f32, DType::f64}) {
    for (Resampling const method : kMethods) {
      Image image = make_image(dtype, 2, 301, 277);
      if (dtype == DType::f32) { punch_holes<float>(image, std::numeric_limits<float>::quiet_NaN(), 40); }
      WriteOptions const options = with([&](WriteOptions& o) {
        o.cog = true;
        o.statistics = true;
        o.overview_resampling = method;
        o.tile_size = {64, 64};
        o.compression = Compression::none;
        if (dtype == DType::f32) { o.nodata = make_nodata("-9999", dtype); }
      });
      SCOPED_TRACE(std::string(to_string(dtype)) + ", " + std::string(to_string(method)));
      std::vector<std::byte> const host = written(image, options);
      EXPECT_TRUE(written(image, on_the_device(options)) == host) << "nothing is compressed, so all is the same";
      EXPECT_TRUE(written_from_device(image, Order::band_last, options, steps(image.height, 64)) == host);
    }
  }
}

TEST_F(DeviceWriter, GivesTheSameBytesWhateverTheBudgetAndTheBands) {
  Image image = make_image(DType::f32, 1, 1500, 1100);
  for (Compression const compression : {Compression::none, Compression::deflate, Compression::zstd, Compression::lzw,
                                        Compression::packbits, Compression::lerc}) {
    for (bool const cog : {false, true}) {
      WriteOptions options = with([&](WriteOptions& o) {
        o.compression = compression;
        o.cog = cog;
        o.tile_size = {128, 128};
        o.level.reset();
      });
      SCOPED_TRACE(std::string(to_string(compression)) + (cog ? " COG" : ""));
      options.device_budget_bytes = std::uint64_t{4} << 30;
      std::vector<std::byte> const eager = written_from_device(image, Order::band_first, options, {1500});
      EXPECT_TRUE(pixels_of(eager) == image.bytes);
      EXPECT_TRUE(written(image, on_the_device(options, std::uint64_t{4} << 30), ragged(1500, 3)) == eager);
      constexpr std::uint64_t kFloor = std::uint64_t{8} << 20;
      options.device_budget_bytes = kFloor;
      EXPECT_TRUE(written_from_device(image, Order::band_first, options, steps(1500, 100)) == eager);
      EXPECT_TRUE(written(image, on_the_device(options, kFloor), steps(1500, 700)) == eager);
    }
  }
}

TEST_F(DeviceWriter, TakesHostAndDeviceRowsInTurnAndGivesDeviceRowsToTheHostEngine) {
  Image image = make_image(DType::u16, 3, 300, 200);
  DeviceBytes const device(image.bytes);
  DeviceView const view = on_device(image.view(), image.bytes, device);
  for (Engine const engine : {Engine::host, Engine::device}) {
    WriteOptions options = with([&](WriteOptions& o) {
      o.engine = engine;
      o.dtype = image.dtype;
      o.bands = image.bands;
      o.overview_factors = {2, 4};
    });
    std::vector<std::byte> bytes;
    Writer writer = create(memory_sink(bytes), image.width, image.height, options);
    writer.write_rows(writing::some_rows(view, 0, 100));
    writer.write_rows(some_rows(image.view(), 100, 70));
    writer.write_rows(writing::some_rows(view, 170, 130));
    EXPECT_EQ(writer.close().device_tiles != 0, engine == Engine::device);
    EXPECT_TRUE(pixels_of(bytes) == image.bytes);
  }
}

TEST_F(DeviceWriter, BringsABatchBackInOneCopyAndNeverItsPixels) {
  Image image = make_image(DType::f32, 1, 2048, 2048);
  WriteOptions options = with([&](WriteOptions& o) {
    o.compression = Compression::deflate;
    o.tile_size = {64, 64};
    o.level.reset();
  });
  WriteReport report;
  gpu::CopyCounts const before = gpu::copies_back();
  std::vector<std::byte> const file = written_from_device(image, Order::band_first, options, {2048}, &report);
  gpu::CopyCounts const after = gpu::copies_back();
  EXPECT_EQ(report.tiles, 1024U);
  EXPECT_EQ(report.device_tiles, 1024U);
  EXPECT_EQ(after.copies - before.copies, 2U) << "sizes, and all tiles: " << after.bytes - before.bytes << " bytes";
  EXPECT_LT(after.bytes - before.bytes, report.compressed_bytes + 1024 * 128);
  EXPECT_LT(after.bytes - before.bytes, image.bytes.size()) << "pixels stay there";
  EXPECT_TRUE(pixels_of(file) == image.bytes);
}

TEST_F(DeviceWriter, KeepsToItsBudgetAndAllocatesPerBatchNotPerTile) {
  Image image = make_image(DType::f32, 1, 4096, 2048);
  for (Compression const compression : {Compression::none, Compression::deflate, Compression::zstd, Compression::lzw}) {
    for (bool const cog : {false, true}) {
      for (std::uint64_t const budget : {std::uint64_t{24} << 20, std::uint64_t{96} << 20, std::uint64_t{400} << 20}) {
        for (MemoryKind const rows : {MemoryKind::host, MemoryKind::device}) {
          SCOPED_TRACE(::testing::Message()
                       << to_string(compression) << (cog ? " COG, " : ", ") << (budget >> 20) << " MiB"
                       << (rows == MemoryKind::device ? ", all on the device" : ", host rows"));
          auto const allocator = std::make_shared<CountingAllocator>();
          WriteOptions const options = on_the_device(with([&](WriteOptions& o) {
                                                       o.cog = cog;
                                                       o.compression = compression;
                                                       o.tile_size = {128, 128};
                                                       o.level.reset();
                                                       o.device_allocator = allocator;
                                                     }),
                                                     budget);
          DeviceMemoryUse const before = device_memory_use();
          reset_device_memory_peak();
          std::vector<std::byte> const file = rows == MemoryKind::host
                                                  ? written(image, options, steps(4096, 333))
                                                  : written_from_device(image, Order::band_first, options, {4096});
          EXPECT_LE(device_memory_use().peak_bytes, before.used_bytes) << "all of it is the caller's allocator's";
          EXPECT_TRUE(pixels_of(file) == image.bytes);
          EXPECT_LE(allocator->peak_bytes, budget);
          EXPECT_LT(allocator->allocations, 50) << "682 tiles, or 512";
          EXPECT_EQ(allocator->live, 0);
        }
      }
    }
  }
}

// The floor is one full-width row of tiles and one tile's way through the codec, whatever was asked for.
TEST_F(DeviceWriter, GivesTheSameBytesUnderABudgetOfOneByte) {
  Image image = make_image(DType::i16, 3, 700, 500);
  add_mask(image);
  for (Compression const compression : {Compression::none, Compression::deflate, Compression::lzw}) {
    for (PlanarLayout const planar : {PlanarLayout::contiguous, PlanarLayout::separate}) {
      WriteOptions options = with([&](WriteOptions& o) {
        o.compression = compression;
        o.planar = planar;
        o.mask = true;
        o.overview_factors = {2, 4};
        o.tile_size = {128, 128};
        o.level.reset();
      });
      SCOPED_TRACE(std::string(to_string(compression)) + (planar == PlanarLayout::separate ? ", planes" : ""));
      std::vector<std::byte> const roomy = written(image, on_the_device(options), ragged(700, 5));
      EXPECT_TRUE(pixels_of(roomy) == image.bytes);
      EXPECT_TRUE(mask_of(roomy) == image.mask);
      EXPECT_TRUE(written(image, on_the_device(options, 1), ragged(700, 6)) == roomy);
      options.device_budget_bytes = 1;
      EXPECT_TRUE(written_from_device(image, Order::band_last, options, steps(700, 90)) == roomy);
    }
  }
}

TEST_F(DeviceWriter, KeepsToItsBudgetWhereKernelsLookFar) {
  Image image = make_image(DType::f32, 1, 4096, 2048);
  for (Resampling const method : {Resampling::lanczos, Resampling::mode}) {
    auto const allocator = std::make_shared<CountingAllocator>();
    WriteOptions options = with([&](WriteOptions& o) {
      o.compression = Compression::deflate;
      o.overview_factors = {32, 64};
      o.overview_resampling = method;
      o.tile_size = {128, 128};
      o.level.reset();
    });
    std::vector<std::byte> const host = written(image, options);
    options.device_allocator = allocator;
    std::uint64_t const budget = std::uint64_t{64} << 20;
    std::vector<std::byte> const file = written(image, on_the_device(options, budget), steps(4096, 333));
    expect_same_layout(file, host);
    EXPECT_TRUE(pixels_of(file) == image.bytes);
    EXPECT_LE(allocator->peak_bytes, budget) << to_string(method);
  }
}

TEST_F(DeviceWriter, EncodesPicturesWithTheVendorsEncoders) {
  Image const image = make_image(DType::u8, 3, 600, 500);
  auto const mean_difference = [&](std::vector<std::byte> const& file) {
    std::vector<std::byte> const pixels = pixels_of(file);
    double sum = 0;
    for (std::size_t i = 0; i < pixels.size(); ++i) {
      sum += std::abs(static_cast<int>(pixels[i]) - static_cast<int>(image.bytes[i]));
    }
    return sum / static_cast<double>(pixels.size());
  };
  for (Compression const compression : {Compression::jpeg, Compression::jpeg2000}) {
    bool const found =
        compression == Compression::jpeg ? gpu::nvjpeg_encode_available() : gpu::nvjpeg2k_encode_available();
    WriteOptions options = with([&](WriteOptions& o) {
      o.compression = compression;
      o.tile_size = {128, 128};
      o.predictor = PredictorChoice::none;
      o.level.reset();
    });
    SCOPED_TRACE(to_string(compression));
    std::vector<std::byte> const host = written(image, options);
    WriteReport report;
    std::vector<std::byte> const file = written_from_device(image, Order::band_last, options, {600}, &report);
    EXPECT_EQ(report.device_tiles, found ? report.tiles : 0U);
    EXPECT_LE(mean_difference(file), mean_difference(host) * 1.02 + 0.01);
    options.device_budget_bytes = std::uint64_t{8} << 20;
    EXPECT_TRUE(written_from_device(image, Order::band_last, options, steps(600, 70)) == file) << "under any budget";
  }
}

TEST_F(DeviceWriter, WaitsForTheCallersStreamAndLeavesTheRowsWhenItReturns) {
  std::uint32_t const side = 2048;
  Image image = make_image(DType::u16, 1, side, side);
  DeviceBytes const source(image.bytes);
  DeviceBytes const rows(image.bytes.size());
  cudaStream_t stream = nullptr;
  gpu::check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
  WriteOptions options = with([](WriteOptions& o) { o.dtype = DType::u16; });
  std::vector<std::byte> bytes;
  Writer writer = create(memory_sink(bytes), side, side, options);
  // The rows are put there by work that is still queued when write_rows() is called, and wiped right after it.
  for (int i = 0; i < 200; ++i) {
    gpu::check_cuda(cudaMemsetAsync(rows.data(), i, image.bytes.size(), stream), "filling");
  }
  gpu::check_cuda(cudaMemcpyAsync(rows.data(), source.data(), image.bytes.size(), cudaMemcpyDeviceToDevice, stream),
                  "filling");
  writer.write_rows(on_device(image.view(), image.bytes, rows), stream);
  gpu::check_cuda(cudaMemsetAsync(rows.data(), 0xFF, image.bytes.size(), stream), "wiping");
  (void)writer.close();
  gpu::check_cuda(cudaStreamDestroy(stream), "closing a stream");
  EXPECT_TRUE(pixels_of(bytes) == image.bytes);
}

}  // namespace
}  // namespace terrazzo::writing
