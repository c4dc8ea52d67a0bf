// SPDX-License-Identifier: Apache-2.0
//
// Many windows into one array of the host, against a loop of reads.
#include "read/deflate_image.hpp"
#include "read/images.hpp"
#include "read/jpeg_image.hpp"
#include "read/result_coverage.hpp"
#include "read/with_cache.hpp"
#include "support/data_folder.hpp"
#include "support/failure.hpp"
#include "terrazzo/read.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

namespace terrazzo::reading {
namespace {

using Bytes = std::vector<std::byte>;

Bytes bytes_of(HostBatch const& batch) { return {batch.bytes().begin(), batch.bytes().end()}; }

Bytes read_one_by_one(std::vector<WindowOf> const& windows, ReadRequest request) {
  Bytes all;
  for (WindowOf const& window : windows) {
    request.window = window.window;
    HostArray const one = read(window.dataset, request);
    all.insert(all.end(), one.bytes().begin(), one.bytes().end());
  }
  return all;
}

// Windows of one size, anywhere in a level of any of the datasets; some come twice.
std::vector<WindowOf> random_windows(std::vector<Dataset> const& datasets, std::uint32_t level, std::size_t count,
                                     std::mt19937& random) {
  std::uint32_t least_width = UINT32_MAX, least_height = UINT32_MAX;
  auto const size_of = [&](Dataset const& dataset) {
    Info const& info = dataset.info();
    return level == 0 ? std::pair(info.width, info.height)
                      : std::pair(info.overviews[level - 1].width, info.overviews[level - 1].height);
  };
  for (Dataset const& dataset : datasets) {
    least_width = std::min(least_width, size_of(dataset).first);
    least_height = std::min(least_height, size_of(dataset).second);
  }
  auto const up_to = [&](std::uint32_t most) { return std::uniform_int_distribution<std::uint32_t>(0, most)(random); };
  std::uint32_t const width = 1 + up_to(least_width - 1), height = 1 + up_to(least_height - 1);
  std::vector<WindowOf> windows;
  for (std::size_t i = 0; i < count; ++i) {
    if (i % 5 == 4) {
      windows.push_back(windows[up_to(static_cast<std::uint32_t>(i) - 1)]);
      continue;
    }
    Dataset const& dataset = datasets[up_to(static_cast<std::uint32_t>(datasets.size()) - 1)];
    auto const [full_width, full_height] = size_of(dataset);
    windows.push_back({dataset, {up_to(full_width - width), up_to(full_height - height), width, height}});
  }
  return windows;
}

// Every result is checked to be written in whole, with and without a tile cache.
class ReadWindowsOnHost : public test::WithCache {
 protected:
  void SetUp() override {
    WithCache::SetUp();
    set_result_checks(true);
  }
  void TearDown() override {
    set_result_checks(checked_);
    WithCache::TearDown();
  }

  void expect_what_reads_give(std::vector<Dataset> const& datasets, ReadRequest request, std::mt19937& random) {
    for (int round = 0; round < 4; ++round) {
      limit(round % 2 == 0 ? 0 : 64 << 20);
      request.threads = round < 2 ? 1 : 4;
      std::vector<WindowOf> const windows =
          random_windows(datasets, request.level, static_cast<std::size_t>(1 + round * 7), random);
      HostBatch const batch = read_windows(windows, request);
      ASSERT_EQ(batch.count(), windows.size());
      ASSERT_EQ(bytes_of(batch), read_one_by_one(windows, request));
    }
  }

 private:
  bool const checked_ = checks_results();
};

TEST_F(ReadWindowsOnHost, GiveWhatALoopOfReadsGivesForEveryLayout) {
  std::mt19937 random(7);
  for (std::uint16_t const compression : {kNone, kPackBits}) {
    for (bool const separate : {false, true}) {
      for (std::uint32_t const tile : {0u, 16u, 48u}) {
        SCOPED_TRACE(std::to_string(compression) + (separate ? " planes " : " pixels ") + std::to_string(tile));
        ImageSpec spec{.width = 70,
                       .height = 90,
                       .bands = 3,
                       .tile_width = tile,
                       .tile_height = tile,
                       .rows_per_strip = 11,
                       .separate = separate,
                       .compression = compression};
        // A sparse block among the others.
        spec.edit = [](std::uint64_t block, Bytes& bytes) {
          if (block == 1) { bytes.clear(); }
        };
        Opened const first(image<std::int16_t>(spec)), second(image<std::int16_t>(spec));
        std::vector<Dataset> const datasets{*first, *second};
        expect_what_reads_give(datasets, {}, random);
        expect_what_reads_give(datasets, {.bands = {3, 1, 3}, .dtype = DType::f32}, random);
      }
    }
  }
}

TEST_F(ReadWindowsOnHost, MixFilesOfDifferentLayouts) {
  std::mt19937 random(8);
  Opened const raw(image<std::uint16_t>({.width = 80, .height = 60, .rows_per_strip = 60}));
  Opened const tiled(
      image<std::uint16_t>({.width = 64, .height = 64, .tile_width = 16, .tile_height = 16, .compression = kPackBits}));
  Opened const deflate(deflate_image({.width = 100, .height = 64, .tile_width = 32, .tile_height = 32}));
  Opened const big_endian(image<std::uint16_t>(
      {.width = 64, .height = 70, .rows_per_strip = 9, .compression = kPackBits, .order = std::endian::big}));
  expect_what_reads_give({*raw, *tiled, *deflate, *big_endian}, {}, random);
  expect_what_reads_give({*raw, *tiled, *deflate, *big_endian}, {.masked = true}, random);
}

TEST_F(ReadWindowsOnHost, TakeJpegInPlanesAndInRows) {
  std::mt19937 random(9);
  Opened const opened(jpeg_image(32, 3), {.trust = Trust::trusted});
  expect_what_reads_give({*opened}, {}, random);
  std::vector<WindowOf> const whole{{*opened, {0, 0, 32, 32}}, {*opened, {32, 32, 32, 32}}};
  EXPECT_EQ(bytes_of(read_windows(whole)), read_one_by_one(whole, {}));
}

TEST_F(ReadWindowsOnHost, GiveWhatALoopOfReadsGivesForEveryTestFile) {
  std::mt19937 random(10);
  int files = 0;
  for (auto const& entry : std::filesystem::directory_iterator(testing::data_folder())) {
    if (entry.path().extension() != ".tif") { continue; }
    SCOPED_TRACE(entry.path().filename().string());
    Dataset const dataset = open(entry.path().string());
    if (testing::kind_of_failure([&] { return read(dataset); })) { continue; }
    ++files;
    expect_what_reads_give({dataset}, {}, random);
    expect_what_reads_give({dataset}, {.masked = true}, random);
    expect_what_reads_give({dataset}, {.unpack = true}, random);
    for (std::uint32_t level = 1; level <= dataset.info().overviews.size(); ++level) {
      expect_what_reads_give({dataset}, {.level = level, .masked = true}, random);
    }
  }
  EXPECT_GT(files, 15);
}

TEST_F(ReadWindowsOnHost, ApplyMasksOfImagesAndAlphaOfEachFile) {
  std::mt19937 random(11);
  auto const masked = [](std::uint16_t mask_bands) {
    testing::TiffBuilder builder = image<float>({.width = 50, .height = 40, .bands = 2, .rows_per_strip = 7});
    builder.next_ifd();
    add_image<std::uint8_t>(builder,
                            {.width = 50,
                             .height = 40,
                             .bands = mask_bands,
                             .tile_width = 16,
                             .tile_height = 16,
                             .compression = kPackBits,
                             .subfile_type = 4},
                            [](std::uint32_t band, std::uint32_t r, std::uint32_t c) {
                              return static_cast<std::uint8_t>((r * 3 + c + band) % 4 == 0 ? 0 : 255);
                            });
    return builder;
  };
  testing::TiffBuilder with_alpha =
      image<float>({.width = 60, .height = 60, .bands = 2, .tile_width = 16, .tile_height = 16},
                   [](std::uint32_t band, std::uint32_t r, std::uint32_t c) {
                     return static_cast<float>(band == 1 && (r + c) % 3 == 0 ? 0 : r * 100 + c);
                   });
  with_alpha.shorts(338, {2});
  Opened const one(masked(1)), two(masked(2)), alpha(with_alpha);
  expect_what_reads_give({*one, *two, *alpha}, {.masked = true}, random);
}

TEST_F(ReadWindowsOnHost, DecodeATileOnceForAllWindows) {
  for (std::uint64_t const cache : {std::uint64_t{0}, std::uint64_t{64} << 20}) {
    limit(cache);
    Opened const opened(image<std::uint8_t>(
        {.width = 64, .height = 64, .tile_width = 32, .tile_height = 32, .compression = kPackBits}));
    std::vector<WindowOf> windows;
    for (std::uint32_t i = 0; i < 40; ++i) { windows.push_back({*opened, {i % 30, i % 31, 34, 33}}); }
    ReadReport report, once;
    (void)read_windows(windows, {}, &report);
    EXPECT_EQ(report.tiles, 4u);
    (void)read(*opened, {}, &once);
    EXPECT_EQ(report.bytes_read, once.bytes_read);
  }
}

TEST_F(ReadWindowsOnHost, FillTheCallersMemoryAtAnyStrides) {
  Opened const opened(image<std::uint8_t>(
      {.width = 64, .height = 64, .bands = 2, .tile_width = 16, .tile_height = 16, .compression = kPackBits}));
  std::vector<WindowOf> const windows{
      {*opened, {3, 5, 20, 10}}, {*opened, {30, 40, 20, 10}}, {*opened, {3, 5, 20, 10}}};
  // Pixels of two bands side by side, rows padded, items apart.
  constexpr std::size_t kRow = 20 * 2 + 3, kItem = kRow * 10 + 5;
  std::vector<std::uint8_t> memory(kItem * 3, 0xCD);
  HostBatchView const view{{memory.data(), DType::u8, 2, 10, 20, 1, kRow, 2}, 3, kItem};
  read_windows(windows, {}, view);
  std::size_t untouched = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    Window const& w = windows[i].window;
    for (std::uint32_t r = 0; r < 10; ++r) {
      for (std::uint32_t c = 0; c < 20; ++c) {
        for (std::uint32_t b = 0; b < 2; ++b) {
          ASSERT_EQ(memory[i * kItem + r * kRow + c * 2 + b], value_at<std::uint8_t>(b, w.row + r, w.column + c));
        }
      }
    }
  }
  for (std::uint8_t const byte : memory) { untouched += byte == 0xCD ? 1 : 0; }
  EXPECT_GE(untouched, 3u * (10 * 3 + 5)) << "nothing between";
  std::vector<float> floats(3 * 2 * 10 * 20);
  read_windows(windows, {}, {{floats.data(), DType::f32, 2, 10, 20}, 3});
  EXPECT_EQ(floats[0], value_at<std::uint8_t>(0, 5, 3)) << "packed, of the view's type";
  EXPECT_EQ(floats[2 * 200 + 200], value_at<std::uint8_t>(1, 40, 30));
}

TEST_F(ReadWindowsOnHost, RefuseWhatIsNotOneArray) {
  ImageSpec const spec{.width = 64, .height = 64, .tile_width = 16, .tile_height = 16};
  Opened const opened(image<std::uint8_t>(spec)), other_type(image<float>(spec));
  auto const kind = [](std::vector<WindowOf> const& windows, ReadRequest const& request = {}) {
    return failure_of([&] { return read_windows(windows, request); }).kind();
  };
  WindowOf const first{*opened, {0, 0, 10, 10}};
  EXPECT_EQ(kind({}), ErrorKind::usage);
  EXPECT_EQ(kind({first}, {.window = Window{0, 0, 10, 10}}), ErrorKind::usage);
  EXPECT_EQ(kind({first}, {.target_size = TargetSize{5, 5}}), ErrorKind::usage);
  EXPECT_EQ(kind({first, {*opened, {0, 0, 10, 9}}}), ErrorKind::usage);
  EXPECT_EQ(kind({first, {*other_type, {0, 0, 10, 10}}}), ErrorKind::usage);
  Error const outside = failure_of([&] {
    return read_windows(std::vector<WindowOf>{first, {*opened, {60, 0, 10, 10}}});
  });
  EXPECT_EQ(outside.kind(), ErrorKind::usage);
  EXPECT_EQ(outside.where().source, "memory.tif");
  EXPECT_NE(outside.message().find("column 60"), std::string::npos) << outside.message();
  std::vector<std::uint8_t> memory(200);
  HostView const item{memory.data(), DType::u8, 1, 10, 10, 100, 10, 1};
  std::vector<WindowOf> const two{first, first};
  auto const into = [&](HostBatchView const& view) {
    return failure_of([&] {
             read_windows(two, {}, view);
             return 0;
           })
        .kind();
  };
  EXPECT_EQ(into({item, 3, 100}), ErrorKind::usage) << "too few windows";
  EXPECT_EQ(into({item, 2, 0}), ErrorKind::usage) << "two items at one address";
  EXPECT_NO_THROW(read_windows({}, {}, HostBatchView{}));
}

// Tiles 5 and 10 of 16 end early.
testing::TiffBuilder with_bad_tiles(std::uint16_t compression) {
  return image<std::uint8_t>({.width = 64,
                              .height = 64,
                              .tile_width = 16,
                              .tile_height = 16,
                              .compression = compression,
                              .edit = [](std::uint64_t block, Bytes& bytes) {
                                if (block == 5 || block == 10) { bytes.resize(bytes.size() / 2); }
                              }});
}

TEST_F(ReadWindowsOnHost, FailAtTheFirstWindowThatHasABadTileWhateverTheThreads) {
  for (std::uint16_t const compression : {kNone, kPackBits}) {
    Opened const opened(with_bad_tiles(compression));
    // The second window meets tile 10 first, tile 5 comes before it in the file.
    std::vector<WindowOf> const windows{{*opened, {0, 0, 16, 16}},
                                        {*opened, {33, 33, 16, 16}},
                                        {*opened, {20, 20, 16, 16}},
                                        {*opened, {0, 32, 16, 16}}};
    for (unsigned const threads : {1u, 4u}) {
      Error const error = failure_of([&] { return read_windows(windows, {.threads = threads}); });
      EXPECT_EQ(error.kind(), ErrorKind::malformed);
      EXPECT_EQ(error.where().source, "memory.tif");
      EXPECT_EQ(error.where().tile, (TileId{2, 2, 0})) << error.what();
      EXPECT_NE(error.message().find("window (column 33, row 33, 16 x 16): "), std::string::npos) << error.message();
    }
  }
}

TEST_F(ReadWindowsOnHost, FillBadTilesAsReadsDoAndReportEachOnce) {
  for (std::uint16_t const compression : {kNone, kPackBits}) {
    Opened const opened(with_bad_tiles(compression));
    std::vector<WindowOf> const windows{
        {*opened, {33, 33, 16, 16}}, {*opened, {20, 20, 16, 16}}, {*opened, {10, 12, 16, 16}}};
    ReadRequest const request{.bad_tile = BadTile::fill};
    ReadReport report;
    HostBatch const batch = read_windows(windows, request, &report);
    EXPECT_EQ(bytes_of(batch), read_one_by_one(windows, request));
    if (compression == kNone) { continue; }  // every window reads its own rows of what is not compressed
    ASSERT_EQ(report.bad_tiles.size(), 2u);
    EXPECT_EQ(report.bad_tiles[0].tile, (TileId{2, 2, 0})) << "in the order of the windows";
    EXPECT_EQ(report.bad_tiles[1].tile, (TileId{1, 1, 0}));
    EXPECT_EQ(report.bad_tiles[0].source, "memory.tif");
  }
}

TEST_F(ReadWindowsOnHost, WithStrictFailForSurplusData) {
  Opened const opened(image<std::uint8_t>({.width = 32,
                                           .height = 32,
                                           .tile_width = 16,
                                           .tile_height = 16,
                                           .compression = kPackBits,
                                           .edit = [](std::uint64_t block, Bytes& bytes) {
                                             if (block == 3) { bytes.resize(bytes.size() + 9); }
                                           }}));
  std::vector<WindowOf> const windows{{*opened, {0, 0, 20, 20}}, {*opened, {10, 10, 20, 20}}};
  ReadReport report;
  EXPECT_NO_THROW((void)read_windows(windows, {}, &report));
  EXPECT_EQ(report.surplus_tiles, 1u);
  Error const error = failure_of([&] { return read_windows(windows, {.strict = true}); });
  EXPECT_EQ(error.kind(), ErrorKind::malformed);
}

TEST_F(ReadWindowsOnHost, TellProgressToTheEndAndCanBeCancelled) {
  limit(0);
  Opened const opened(image<std::uint8_t>(
      {.width = 256, .height = 256, .tile_width = 16, .tile_height = 16, .compression = kPackBits}));
  std::vector<WindowOf> windows;
  for (std::uint32_t i = 0; i < 60; ++i) { windows.push_back({*opened, {i * 3, i * 2, 40, 40}}); }
  std::uint64_t last = 0, total = 0;
  (void)read_windows(windows, {.progress = [&](std::uint64_t done, std::uint64_t of) {
                       EXPECT_GE(done, last);
                       last = done;
                       total = of;
                       return true;
                     }});
  EXPECT_GT(total, 0u);
  EXPECT_EQ(last, total);
  Error const told = failure_of(
      [&] { return read_windows(windows, {.progress = [](std::uint64_t, std::uint64_t) { return false; }}); });
  EXPECT_EQ(told.kind(), ErrorKind::cancelled);
  std::atomic<bool> const cancel{true};
  EXPECT_EQ(failure_of([&] { return read_windows(windows, {.cancel = &cancel}); }).kind(), ErrorKind::cancelled);
}

TEST_F(ReadWindowsOnHost, StayWithinTheMemoryLimit) {
  Opened const opened(image<std::uint8_t>(
      {.width = 256, .height = 256, .tile_width = 64, .tile_height = 64, .compression = kPackBits}));
  std::vector<WindowOf> windows;
  for (std::uint32_t i = 0; i < 50; ++i) { windows.push_back({*opened, {i, i * 2, 100, 100}}); }
  EXPECT_EQ(failure_of([&] { return read_windows(windows, {.memory_limit_bytes = 400'000}); }).kind(), ErrorKind::limit)
      << "the result alone takes 500,000 bytes";
  ReadRequest const enough{.threads = 8, .memory_limit_bytes = 700'000};
  EXPECT_EQ(bytes_of(read_windows(windows, enough)), read_one_by_one(windows, {}));
}

TEST(HostBatches, HaveItemsThatFollowEachOther) {
  HostBatch batch(DType::u16, 3, 2, 5, 7);
  EXPECT_EQ(batch.bytes().size(), 3u * 2 * 5 * 7 * 2);
  EXPECT_EQ(batch.view().item_stride_bytes, 2 * 5 * 7 * 2);
  EXPECT_EQ(batch.item(2).data, batch.bytes().data() + 2 * 140);
  EXPECT_EQ(batch.item(2).bands, 2u);
  EXPECT_EQ(failure_of([] { return HostBatch(DType::u8, 70'000, 70'000, 1, 1); }).kind(), ErrorKind::limit);
}

}  // namespace
}  // namespace terrazzo::reading
