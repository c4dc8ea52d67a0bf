// SPDX-License-Identifier: Apache-2.0
#include "ops/mosaic/inputs.hpp"

#include "ops/mosaic/memory_inputs.hpp"
#include "support/failure.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

namespace terrazzo::ops {
namespace {

using testing::MemoryInputs;
using testing::placed_builder;
using testing::text_tag;
using testing::TiffBuilder;

std::vector<std::uint8_t> ones(std::size_t count) { return std::vector<std::uint8_t>(count, 1); }

// GeoKeys of a projected CRS with this code.
void set_epsg(TiffBuilder& builder, std::uint16_t code) {
  builder.shorts(34735, {1, 1, 0, 2, 1024, 0, 1, 1, 3072, 0, 1, code});
}

// The error of the second of two inputs.
Error refusal(TiffBuilder const& first, TiffBuilder const& second, MosaicRequest const& request = {}) {
  MemoryInputs files;
  files.add("a.tif", first);
  files.add("b.tif", second);
  return testing::failure_of([&] { return read_inputs(files.names(), files.opening(request)); });
}

void expect_names_both(Error const& error, std::vector<std::string> const& words) {
  EXPECT_EQ(error.kind(), ErrorKind::usage);
  EXPECT_EQ(error.where().source, "b.tif");
  EXPECT_NE(error.message().find("\"a.tif\""), std::string::npos) << error.message();
  for (std::string const& word : words) { EXPECT_NE(error.message().find(word), std::string::npos) << error.message(); }
}

TEST(MosaicInputs, KeepsASmallRecordOfEachFile) {
  MemoryInputs files;
  files.add("a.tif", placed_builder<std::uint8_t>(0, 0, 4, 3, ones(12)));
  TiffBuilder second = placed_builder<std::uint8_t>(4, 0, 2, 3, ones(6));
  text_tag(second, 42113, "7");
  files.add("b.tif", second);
  Inputs const inputs = read_inputs(files.names(), files.opening());
  ASSERT_EQ(inputs.files.size(), 2U);
  EXPECT_EQ(inputs.bands, std::vector<std::uint32_t>{1});
  EXPECT_EQ(inputs.files[0].validity, Validity::everywhere);
  EXPECT_EQ(inputs.files[1].validity, Validity::by_value);
  EXPECT_EQ(inputs.files[1].nodata->value, 7);
  EXPECT_EQ(inputs.files[1].footprint.transform[0], 1040);
  EXPECT_EQ(inputs.files[1].footprint.width, 2U);
}

TEST(MosaicInputs, FloatsWithoutNodataAreMissingWhereTheyAreNan) {
  MemoryInputs files;
  files.add("a.tif", placed_builder<float>(0, 0, 1, 1, {1}));
  EXPECT_EQ(read_inputs(files.names(), files.opening()).files[0].validity, Validity::by_value);
}

TEST(MosaicInputs, RefusesAnotherCrsWithBothNames) {
  TiffBuilder first = placed_builder<std::uint8_t>(0, 0, 1, 1, {1});
  TiffBuilder second = first;
  set_epsg(first, 32632);
  set_epsg(second, 32633);
  expect_names_both(refusal(first, second), {"EPSG:32632", "EPSG:32633"});
  expect_names_both(refusal(first, placed_builder<std::uint8_t>(0, 0, 1, 1, {1})), {"EPSG:32632", "no CRS"});
}

TEST(MosaicInputs, RefusesAnotherTypeUnlessOneIsChosen) {
  TiffBuilder const first = placed_builder<std::uint8_t>(0, 0, 1, 1, {1});
  TiffBuilder const second = placed_builder<std::int16_t>(0, 0, 1, 1, {1});
  expect_names_both(refusal(first, second), {"int16", "uint8"});
  MemoryInputs files;
  files.add("a.tif", first);
  files.add("b.tif", second);
  EXPECT_EQ(read_inputs(files.names(), files.opening({.dtype = DType::f32})).like_first.dtype, DType::f32);
}

TEST(MosaicInputs, RefusesAnotherNumberOfBandsUnlessBandsAreChosen) {
  TiffBuilder const first = placed_builder<std::uint8_t>(0, 0, 1, 1, {1, 2, 3}, 3);
  TiffBuilder const second = placed_builder<std::uint8_t>(0, 0, 1, 1, {1});
  expect_names_both(refusal(first, second), {"bands"});
  MemoryInputs files;
  files.add("a.tif", first);
  files.add("b.tif", second);
  EXPECT_EQ(read_inputs(files.names(), files.opening({.bands = {1}})).files.size(), 2U);
  EXPECT_EQ(
      testing::failure_of([&] { return read_inputs(files.names(), files.opening({.bands = {2}})); }).where().source,
      "b.tif");
}

TEST(MosaicInputs, RefusesStoredValuesOfAnotherMeaning) {
  TiffBuilder const first = placed_builder<std::uint8_t>(0, 0, 1, 1, {1});
  TiffBuilder scaled = first, colored = first;
  text_tag(scaled, 42112, "<GDALMetadata><Item name=\"SCALE\" sample=\"0\" role=\"scale\">0.5</Item></GDALMetadata>");
  expect_names_both(refusal(first, scaled), {"scale 0.5"});
  TiffBuilder palette = placed_builder<std::uint8_t>(0, 0, 1, 1, {1}), other = palette;
  std::vector<std::uint16_t> colors(768, 0);
  palette.shorts(262, {3}).shorts(320, colors);
  colors[5] = 65535;
  other.shorts(262, {3}).shorts(320, colors);
  expect_names_both(refusal(palette, other), {"colour table"});
}

TEST(MosaicInputs, RefusesRasterWithoutAPlaceAndRotatedOnes) {
  TiffBuilder const first = placed_builder<std::uint8_t>(0, 0, 1, 1, {1});
  Error const nowhere = refusal(first, testing::raster_builder<std::uint8_t>(1, 1, {1}, 1));
  EXPECT_EQ(nowhere.kind(), ErrorKind::usage);
  EXPECT_EQ(nowhere.where().source, "b.tif");
  TiffBuilder rotated = testing::raster_builder<std::uint8_t>(1, 1, {1}, 1);
  rotated.doubles(34264, {8, 6, 0, 1000, 6, -8, 0, 2000, 0, 0, 0, 0, 0, 0, 0, 1});
  expect_names_both(refusal(first, rotated), {"rotated"});
}

TEST(MosaicInputs, ThrowsTheErrorOfTheFirstFileThatFails) {
  MemoryInputs files;
  for (int i = 0; i < 100; ++i) {
    std::string const number = std::to_string(i);
    files.add((i < 10 ? "0" : "") + number, placed_builder<std::uint8_t>(i, 0, 1, 1, {1}));
  }
  std::vector<std::string> names = files.names();
  for (std::size_t i = 37; i < names.size(); i += 3) { names[i] = "missing " + std::to_string(i); }
  for (unsigned const threads : {1U, 8U}) {
    Error const error = testing::failure_of([&] { return read_inputs(names, files.opening({.threads = threads})); });
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_EQ(error.where().source, "missing 37");
  }
}

TEST(MosaicInputs, StopsIfCancelled) {
  MemoryInputs files;
  files.add("a.tif", placed_builder<std::uint8_t>(0, 0, 1, 1, {1}));
  files.add("b.tif", placed_builder<std::uint8_t>(1, 0, 1, 1, {1}));
  std::atomic<bool> const cancel{true};
  EXPECT_EQ(testing::kind_of_failure([&] { return read_inputs(files.names(), files.opening({.cancel = &cancel})); }),
            ErrorKind::cancelled);
}

TEST(MosaicInputs, NeedsAFile) {
  EXPECT_EQ(testing::kind_of_failure([] { return read_inputs({}, {}); }), ErrorKind::usage);
}

}  // namespace
}  // namespace terrazzo::ops
