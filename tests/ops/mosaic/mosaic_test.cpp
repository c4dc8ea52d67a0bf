// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/mosaic.hpp"

#include "ops/mosaic/memory_inputs.hpp"
#include "support/failure.hpp"
#include "support/temp_folder.hpp"

#include "terrazzo/settings.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace terrazzo {
namespace {

using testing::MemoryInputs;
using testing::placed_builder;
using testing::samples_of;
using testing::text_tag;
using testing::TiffBuilder;

std::vector<std::byte> joined(MosaicPlan const& plan, WriteOptions const& options) {
  std::vector<std::byte> bytes;
  static_cast<void>(mosaic(plan, memory_sink(bytes), options));
  return bytes;
}

std::vector<std::byte> joined(MosaicPlan const& plan) { return joined(plan, mosaic_options(plan)); }

template <class T>
std::vector<T> values(std::size_t count, T first) {
  std::vector<T> all(count);
  for (std::size_t i = 0; i < count; ++i) { all[i] = static_cast<T>(first + static_cast<T>(i)); }
  return all;
}

MemoryInputs two_tiles() {
  MemoryInputs files;
  files.add("a.tif", placed_builder<std::int16_t>(0, 0, 2, 2, {1, 2, 3, 4}));
  files.add("b.tif", placed_builder<std::int16_t>(2, 1, 2, 2, {5, 6, 7, 8}));
  return files;
}

TEST(Mosaic, LaysFilesSideBySide) {
  MemoryInputs const files = two_tiles();
  MosaicPlan const plan = plan_mosaic(files.names(), files.opening());
  EXPECT_EQ(plan.width(), 4U);
  EXPECT_EQ(plan.height(), 3U);
  EXPECT_EQ(plan.used_count(), 2U);
  EXPECT_TRUE(plan.has_gaps());
  std::vector<std::byte> const bytes = joined(plan);
  Dataset const result = open_memory(bytes);
  EXPECT_EQ(samples_of<std::int16_t>(read(result)), (std::vector<std::int16_t>{1, 2, 0, 0, 3, 4, 5, 6, 0, 0, 7, 8}));
  EXPECT_EQ(*result.info().georeference.transform, (std::array<double, 6>{1000, 10, 0, 2000, 0, -10}));
  EXPECT_FALSE(result.info().bands[0].nodata);
}

TEST(Mosaic, TakesTheBoundsOfTheRequest) {
  MemoryInputs const files = two_tiles();
  MosaicPlan const plan = plan_mosaic(files.names(), files.opening({.bounds = BoundingBox{1010, 1980, 1030, 2010}}));
  EXPECT_EQ(plan.width(), 2U);
  EXPECT_EQ(plan.height(), 3U);
  std::vector<std::byte> const bytes = joined(plan);
  EXPECT_EQ(samples_of<std::int16_t>(read(open_memory(bytes))), (std::vector<std::int16_t>{0, 0, 2, 0, 4, 5}));
  for (BoundingBox const& box : {BoundingBox{0, 0, 10, 10}, BoundingBox{1010, 1980, 1010, 2010}}) {
    EXPECT_EQ(testing::kind_of_failure([&] { return plan_mosaic(files.names(), files.opening({.bounds = box})); }),
              ErrorKind::usage);
  }
}

TEST(Mosaic, MarksGapsByNodataOrAMask) {
  MemoryInputs const files = two_tiles();
  MosaicPlan const plan = plan_mosaic(files.names(), files.opening());
  WriteOptions options = mosaic_options(plan);
  options.nodata = make_nodata("-7", DType::i16);
  std::vector<std::byte> bytes = joined(plan, options);
  EXPECT_EQ(samples_of<std::int16_t>(read(open_memory(bytes))),
            (std::vector<std::int16_t>{1, 2, -7, -7, 3, 4, 5, 6, -7, -7, 7, 8}));
  options.nodata.reset();
  options.mask = true;
  bytes = joined(plan, options);
  EXPECT_EQ(samples_of<std::uint8_t>(read_mask(open_memory(bytes))),
            (std::vector<std::uint8_t>{255, 255, 0, 0, 255, 255, 255, 255, 0, 0, 255, 255}));
}

TEST(Mosaic, GivesOneNodataValueToFilesWithSeveral) {
  TiffBuilder first = placed_builder<std::int16_t>(0, 0, 2, 1, {1, -1}),
              second = placed_builder<std::int16_t>(0, 0, 3, 1, {9, 8, 0});
  text_tag(first, 42113, "-1");
  text_tag(second, 42113, "0");
  MemoryInputs files;
  files.add("a", first);
  files.add("b", second);
  std::vector<std::string> notes;
  set_log([&](std::string_view note) { notes.emplace_back(note); });
  std::vector<std::byte> const bytes = joined(plan_mosaic(files.names(), files.opening()));
  set_log({});
  Dataset const result = open_memory(bytes);
  EXPECT_EQ(samples_of<std::int16_t>(read(result)), (std::vector<std::int16_t>{1, 8, -1}));
  EXPECT_EQ(result.info().bands[0].nodata->value, -1);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes[0].find("b has 0"), std::string::npos) << notes[0];
}

TEST(Mosaic, FloatsWithoutNodataAreNanInGaps) {
  MemoryInputs files;
  files.add("a", placed_builder<float>(0, 0, 1, 1, {1}));
  files.add("b", placed_builder<float>(2, 0, 1, 1, {2}));
  std::vector<std::byte> const bytes = joined(plan_mosaic(files.names(), files.opening()));
  Dataset const result = open_memory(bytes);
  EXPECT_TRUE(std::isnan(samples_of<float>(read(result))[1]));
  EXPECT_TRUE(std::isnan(result.info().bands[0].nodata->value));
}

TEST(Mosaic, IsTheSameFileForAnyBuffersAndThreads) {
  MemoryInputs files;
  for (int i = 0; i < 9; ++i) {
    // Tiles of 40 pixels, every 33: all of them overlap.
    TiffBuilder tile = placed_builder<std::uint16_t>(i % 3 * 33, i / 3 * 33, 40, 40,
                                                     values<std::uint16_t>(1600, static_cast<std::uint16_t>(1 + i)));
    text_tag(tile, 42113, "77");
    files.add(std::to_string(i), tile);
  }
  for (MosaicRule const rule : {MosaicRule::first, MosaicRule::last, MosaicRule::minimum, MosaicRule::mean}) {
    MosaicPlan const plan = plan_mosaic(files.names(), files.opening({.rule = rule}));
    WriteOptions options = mosaic_options(plan);
    options.cog = true;
    options.tile_size = {16, 16};
    std::vector<std::byte> const whole = joined(plan, options);
    options.streaming_buffer_bytes = 1;
    options.threads = 1;
    EXPECT_EQ(joined(plan, options), whole);
    options.streaming_buffer_bytes = 106 * 3 * 16 * 2 * 2;  // two canvases
    options.threads = 4;
    EXPECT_EQ(joined(plan, options), whole);
  }
}

TEST(Mosaic, KeepsBandsTogetherOrApart) {
  MemoryInputs files;
  files.add("a", placed_builder<std::uint8_t>(0, 0, 2, 1, {1, 2, 3, 4, 5, 6}, 3));
  files.add("b", placed_builder<std::uint8_t>(1, 0, 2, 1, {7, 8, 9, 10, 11, 12}, 3));
  MosaicPlan const plan = plan_mosaic(files.names(), files.opening({.rule = MosaicRule::last}));
  for (PlanarLayout const planar : {PlanarLayout::contiguous, PlanarLayout::separate}) {
    WriteOptions options = mosaic_options(plan);
    options.planar = planar;
    std::vector<std::byte> const bytes = joined(plan, options);
    EXPECT_EQ(samples_of<std::uint8_t>(read(open_memory(bytes))),
              (std::vector<std::uint8_t>{1, 7, 10, 2, 8, 11, 3, 9, 12}));
  }
}

TEST(Mosaic, LeavesOutTheMetadataOfTheFirstFile) {
  TiffBuilder first = placed_builder<std::uint8_t>(0, 0, 1, 1, {1});
  text_tag(first, 42112,
           "<GDALMetadata><Item name=\"DATE\">today</Item><Item name=\"DESCRIPTION\" sample=\"0\" "
           "role=\"description\">height</Item><Item name=\"STATISTICS_MINIMUM\" sample=\"0\">1</Item></GDALMetadata>");
  MemoryInputs files;
  files.add("a", first);
  WriteOptions const options = mosaic_options(plan_mosaic(files.names(), files.opening()));
  EXPECT_EQ(options.metadata.find("DATE"), nullptr);
  EXPECT_EQ(options.band_info[0].metadata.find("STATISTICS_MINIMUM"), nullptr);
  EXPECT_EQ(options.band_info[0].description, "height");
}

TEST(Mosaic, ComplexSamplesHaveNoMean) {
  TiffBuilder builder = placed_builder<float>(0, 0, 1, 1, {1, 2}, 2);
  MemoryInputs files;
  files.add("a", placed_builder<float>(0, 0, 1, 1, {1}));
  for (MosaicRule const rule : {MosaicRule::minimum, MosaicRule::maximum, MosaicRule::mean}) {
    EXPECT_EQ(testing::kind_of_failure(
                  [&] { return plan_mosaic(files.names(), files.opening({.rule = rule, .dtype = DType::cf32})); }),
              ErrorKind::usage);
  }
  std::vector<std::byte> const bytes = joined(plan_mosaic(files.names(), files.opening({.dtype = DType::cf32})));
  EXPECT_EQ(open_memory(bytes).info().dtype(), DType::cf32);
}

TEST(Mosaic, RefusesOptionsOfAnotherTypeAndTooMuchMemory) {
  MemoryInputs const files = two_tiles();
  MosaicPlan const plan = plan_mosaic(files.names(), files.opening());
  WriteOptions options = mosaic_options(plan);
  options.dtype = DType::f32;
  EXPECT_EQ(testing::kind_of_failure([&] { return joined(plan, options); }), ErrorKind::usage);
  MosaicPlan const poor = plan_mosaic(files.names(), files.opening({.memory_limit_bytes = 10}));
  EXPECT_EQ(testing::kind_of_failure([&] { return joined(poor); }), ErrorKind::limit);
}

TEST(MosaicInputsOf, LeaveTheOutputOutOfAFolder) {
  testing::TempFolder const folder;
  for (char const* name : {"b.tif", "a.tif", "out.tif", "notes.txt"}) {
    static_cast<void>(folder.write(name, std::string_view("x")));
  }
  std::string const out = folder.path("out.tif");
  EXPECT_EQ(mosaic_inputs({folder.path("")}, out),
            (std::vector<std::string>{folder.path("a.tif"), folder.path("b.tif")}));
  EXPECT_EQ(mosaic_inputs({folder.path("b.tif"), folder.path("*.tif")}, out),
            (std::vector<std::string>{folder.path("b.tif"), folder.path("a.tif")}));
  EXPECT_EQ(testing::kind_of_failure([&] { return mosaic_inputs({out}, out); }), ErrorKind::usage);
  EXPECT_EQ(testing::kind_of_failure([&] { return mosaic_inputs({}, out); }), ErrorKind::usage);
  EXPECT_EQ(testing::kind_of_failure([&] { return mosaic_inputs({folder.path("*.jp2")}, out); }), ErrorKind::usage);
}

TEST(MosaicRuleName, IsThatOfTheCommandLine) {
  EXPECT_EQ(to_string(MosaicRule::minimum), "min");
  EXPECT_EQ(to_string(MosaicRule::mean), "mean");
}

}  // namespace
}  // namespace terrazzo
