// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

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
  Dataset const dataset = open(std::string(TERRAZZO_TEST_DATA) + "/dem_deflate_p3.tif");
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
