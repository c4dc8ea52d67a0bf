// SPDX-License-Identifier: Apache-2.0
#include "options/options.hpp"

#include "support/data_folder.hpp"

#include <gtest/gtest.h>

#include <string>

namespace terrazzo::cli {
namespace {

EngineOptions parsed(std::string const& line) {
  CLI::App app;
  EngineOptions engine;
  add_engine(app, engine);
  add_device_tuning(app, engine);
  app.parse(line);
  return engine;
}

TEST(EngineOptions, DefaultsAreTheLibrarys) {
  EngineOptions const engine = parsed("");
  EXPECT_EQ(engine.engine, Engine::automatic);
  EXPECT_FALSE(engine.exact);
  EXPECT_EQ(engine.device_budget_bytes, 0U);
  EXPECT_EQ(engine.device_fetch, DeviceFetch::automatic);
}

TEST(EngineOptions, ReachTheRequest) {
  EngineOptions const engine = parsed("--device --exact --device-budget 128M --fetch ring");
  Dataset const dataset = open(testing::data_folder() / "dem_deflate_p3.tif");
  ReadRequest const request = make_request(dataset, {}, engine);
  EXPECT_EQ(request.engine, Engine::device);
  EXPECT_TRUE(request.exact);
  EXPECT_EQ(request.device_budget_bytes, 128U << 20);
  EXPECT_EQ(request.device_fetch, DeviceFetch::ring);
  EXPECT_EQ(parsed("--host").engine, Engine::host);
  EXPECT_EQ(parsed("--device --fetch kvikio").device_fetch, DeviceFetch::kvikio);
}

TEST(EngineOptions, RefuseWhatMakesNoSense) {
  EXPECT_THROW(parsed("--device --host"), CLI::ExcludesError);
  EXPECT_THROW(parsed("--fetch ring"), CLI::RequiresError);
  EXPECT_THROW(parsed("--device-budget 1G"), CLI::RequiresError);
  EXPECT_THROW(parsed("--device --fetch carrier-pigeon"), Error);
  EXPECT_THROW(parsed("--device --device-budget plenty"), Error);
}

TEST(CommonOptions, TakeTheThreadsOfGdal) {
  CLI::App app;
  CommonOptions common;
  add_common(app, common);
  app.parse("--threads 3");
  EXPECT_EQ(common.threads, 3U);
  app.parse("--threads ALL_CPUS");
  EXPECT_EQ(common.threads, 0U);
  EXPECT_THROW(app.parse("--threads many"), Error);
}

Selection selected(std::string const& line) {
  CLI::App app;
  Selection selection;
  add_area(app, selection);
  add_level(app, selection);
  app.parse(line);
  return selection;
}

TEST(Area, ABoxBecomesTheWindowOfTheRequest) {
  Dataset const dataset = open(testing::data_folder() / "dem_deflate_p3.tif");  // 10 m from (400000, 5000000) on
  Window const wanted{10, 40, 10, 11};
  Selection const selection = selected("--bbox 400101,4999499,400199,4999600");
  EXPECT_EQ(selected_window(dataset, selection), wanted);
  EXPECT_EQ(make_request(dataset, selection).window, wanted);
  EXPECT_EQ(selected_window(dataset, selected("--window 1,2,3,4")), (Window{1, 2, 3, 4}));
  EXPECT_EQ(selected_window(dataset, selected("")), std::nullopt);
}

TEST(Area, ABoxIsClippedAndOneOutsideRefused) {
  Dataset const dataset = open(testing::data_folder() / "dem_deflate_p3.tif");
  EXPECT_EQ(selected_window(dataset, selected("--bbox 0,4999990,400005,9e9")), (Window{0, 0, 1, 1}));
  EXPECT_THROW((void)selected_window(dataset, selected("--bbox -10,-20,-5,-6")), Error);
  EXPECT_THROW((void)selected_window(dataset, selected("--bbox=-10,-20,-5,-6")), Error);
}

TEST(Area, ABoxOfALevelCountsItsPixels) {
  Dataset const dataset = open(testing::data_folder() / "cog_mask_overviews.tif");
  Selection selection;
  selection.bbox = bounds(dataset.info());
  selection.level = 1;
  OverviewInfo const& overview = dataset.info().overviews[0];
  EXPECT_EQ(selected_window(dataset, selection), (Window{0, 0, overview.width, overview.height}));
}

TEST(Area, WindowsAndBoxesExcludeEachOther) {
  EXPECT_THROW(selected("--bbox 1,2,3,4 --window 1,2,3,4"), CLI::ExcludesError);
  EXPECT_THROW(selected("--bbox-crs EPSG:4326"), CLI::RequiresError);
  EXPECT_EQ(selected("--bbox 1,2,3,4 --bbox-crs 4326").bbox_crs, "EPSG:4326");
  // A name is looked up when the box is used.
  Dataset const dataset = open(testing::data_folder() / "dem_deflate_p3.tif");
  EXPECT_THROW((void)selected_window(dataset, selected("--bbox 1,2,3,4 --bbox-crs here")), Error);
}

TEST(UsableDevice, IsAnErrorThatSaysWhyWhereThereIsNone) {
  DeviceState const state = device_state();
  if (state.usable) {
    EXPECT_EQ(usable_device().name, state.name);
    return;
  }
  try {
    (void)usable_device();
    FAIL() << "no error";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), state.built ? ErrorKind::device : ErrorKind::unsupported);
    EXPECT_NE(error.message().find(state.reason), std::string::npos);
  }
}

}  // namespace
}  // namespace terrazzo::cli
