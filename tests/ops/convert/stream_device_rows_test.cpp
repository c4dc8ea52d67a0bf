// SPDX-License-Identifier: Apache-2.0
#include "ops/convert/stream_device_rows.hpp"

#include "support/on_device.hpp"
#include "support/raster.hpp"
#include "support/temp_folder.hpp"

#include "terrazzo/convert.hpp"
#include "terrazzo/device.hpp"
#include "terrazzo/error.hpp"
#include "terrazzo/overviews.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <functional>
#include <numeric>

namespace terrazzo::ops {
namespace {

using testing::Raster;
using testing::TempFolder;

Raster make_source(std::uint32_t width = 320, std::uint32_t height = 900) {
  std::vector<std::uint16_t> samples(std::size_t{width} * height);
  std::iota(samples.begin(), samples.end(), std::uint16_t{0});
  return Raster(testing::raster_builder<std::uint16_t>(width, height, samples, 100));
}

// Both sides are told to work on the device, so that no cost model decides.
ReadRequest device_read() {
  ReadRequest read;
  read.engine = Engine::device;
  return read;
}
WriteOptions device_write(Dataset const& source) {
  WriteOptions options = conversion_options(source);
  options.engine = Engine::device;
  return options;
}

TEST(StreamDeviceRows, IsForWritersOnTheDeviceOnly) {
  Raster const source = make_source();
  WriteOptions options = device_write(source.dataset());
  EXPECT_EQ(goes_by_device(plan(source.dataset(), device_read()), device_read(), options), device_state().usable);
  options.engine = Engine::host;
  EXPECT_FALSE(goes_by_device(plan(source.dataset(), device_read()), device_read(), options));
}

TEST(StreamDeviceRows, LeavesMasksTargetSizesAndHostDecodersToTheHost) {
  Raster const source = make_source();
  WriteOptions options = device_write(source.dataset());
  ReadRequest read = device_read();
  read.target_size = TargetSize{100, 100};
  EXPECT_FALSE(goes_by_device(plan(source.dataset(), read), read, options));
  read = {};
  read.engine = Engine::host;
  EXPECT_FALSE(goes_by_device(plan(source.dataset(), read), read, options));
  options.mask = true;
  EXPECT_FALSE(goes_by_device(plan(source.dataset(), device_read()), device_read(), options));
}

TEST(ShareDeviceBudget, GivesHalfToEachSideWhereRowsGoByTheDevice) {
  Raster const source = make_source();
  WriteOptions options = device_write(source.dataset());
  options.device_budget_bytes = 101;
  ReadRequest read = device_read();
  share_device_budget(plan(source.dataset(), read), read, options);
  bool const shared = device_state().usable;
  EXPECT_EQ(options.device_budget_bytes, shared ? 51U : 101U);
  EXPECT_EQ(read.device_budget_bytes, shared ? 50U : 0U);
}

TEST(ShareDeviceBudget, KeepsWhatWasSaidForReading) {
  Raster const source = make_source();
  WriteOptions options = device_write(source.dataset());
  options.device_budget_bytes = 100;
  ReadRequest read = device_read();
  read.device_budget_bytes = 30;
  share_device_budget(plan(source.dataset(), read), read, options);
  EXPECT_EQ(options.device_budget_bytes, 100U);
  EXPECT_EQ(read.device_budget_bytes, 30U);
}

TEST(ShareDeviceBudget, LeavesAllToTheWriterWhenTheHostReads) {
  Raster const source = make_source();
  WriteOptions options = device_write(source.dataset());
  options.device_budget_bytes = 100;
  ReadRequest read;
  read.engine = Engine::host;
  share_device_budget(plan(source.dataset(), read), read, options);
  EXPECT_EQ(options.device_budget_bytes, 100U);
  EXPECT_EQ(read.device_budget_bytes, 0U);
}

// What the device engine throws where there is none.
void expect_refusal(std::function<void()> const& work) {
  DeviceState const state = device_state();
  try {
    work();
    FAIL() << "no error";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), state.built ? ErrorKind::device : ErrorKind::unsupported) << error.what();
  }
}

TEST(ConvertOnTheDevice, IsAnErrorWithoutAGpuAndLeavesNoFile) {
  if (device_state().usable) { GTEST_SKIP() << "there is a GPU"; }
  TempFolder const folder;
  Raster const source = make_source();
  expect_refusal([&] { convert(source.dataset(), folder.path("out.tif"), device_write(source.dataset())); });
  EXPECT_FALSE(std::filesystem::exists(folder.path("out.tif")));
}

TEST(OverviewsOnTheDevice, AreAnErrorWithoutAGpuAndTheFileStays) {
  if (device_state().usable) { GTEST_SKIP() << "there is a GPU"; }
  TempFolder const folder;
  std::string const path = folder.path("a.tif");
  Raster const source = make_source();
  convert(source.dataset(), path, conversion_options(source.dataset()));
  auto const size = std::filesystem::file_size(path);
  for (OverviewPlace const place : {OverviewPlace::internal, OverviewPlace::external}) {
    OverviewOptions options;
    options.place = place;
    options.adjust = [](WriteOptions& write) { write.engine = Engine::device; };
    expect_refusal([&] { add_overviews(path, options); });
  }
  EXPECT_EQ(std::filesystem::file_size(path), size);
  EXPECT_FALSE(std::filesystem::exists(path + ".ovr"));
  EXPECT_TRUE(open(path).info().overviews.empty());
}

using WithAGpu = testing::OnDevice;

TEST_F(WithAGpu, RowsOfAnyNumberOfPiecesMakeTheSameFile) {
  Raster const source = make_source(4096, 4000);  // 31 MiB: one piece, and four under the smaller budget
  std::vector<std::vector<std::byte>> files;
  for (std::uint64_t const budget : {std::uint64_t{0}, std::uint64_t{32} << 20}) {
    WriteOptions options = device_write(source.dataset());
    options.compression = Compression::lzw;
    options.tile_size = {64, 64};
    options.cog = true;
    options.device_budget_bytes = budget;
    ConvertReport const report = convert(source.dataset(), memory_sink(files.emplace_back()), options, device_read());
    EXPECT_EQ(report.write.device_tiles, report.write.tiles);
    EXPECT_EQ(report.read.tiles, 40U);  // 4000 rows in strips of 100, each read once
  }
  EXPECT_TRUE(files[0] == files[1]);  // not EQ, which would print them
  HostArray const before = read(source.dataset()), after = read(open_memory(files[0]));
  EXPECT_TRUE(std::ranges::equal(before.bytes(), after.bytes()));
}

TEST_F(WithAGpu, StopsWhenCancelled) {
  Raster const source = make_source();
  WriteOptions options = device_write(source.dataset());
  std::atomic<bool> const cancelled{true};
  options.cancel = &cancelled;
  std::vector<std::byte> bytes;
  try {
    convert(source.dataset(), memory_sink(bytes), options, device_read());
    FAIL() << "no error";
  } catch (Error const& error) { EXPECT_EQ(error.kind(), ErrorKind::cancelled); }
}

}  // namespace
}  // namespace terrazzo::ops
