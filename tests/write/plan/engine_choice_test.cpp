// SPDX-License-Identifier: Apache-2.0
#include "write/plan/engine_choice.hpp"

#include "terrazzo/device.hpp"
#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace terrazzo::writing {
namespace {

class ChooseWriteEngine : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::getenv("TERRAZZO_ENGINE") != nullptr) { GTEST_SKIP() << "TERRAZZO_ENGINE is set"; }
  }
  static FilePlan plan_of(Engine engine) {
    WriteOptions options;
    options.engine = engine;
    return plan_file(64, 64, options);
  }
};

TEST_F(ChooseWriteEngine, FollowsTheOptionsThenTheRows) {
  EXPECT_EQ(choose_engine(plan_of(Engine::automatic), MemoryKind::host), Engine::host);
  EXPECT_EQ(choose_engine(plan_of(Engine::automatic), MemoryKind::device), Engine::device);
  EXPECT_EQ(choose_engine(plan_of(Engine::device), MemoryKind::host), Engine::device);
  EXPECT_EQ(choose_engine(plan_of(Engine::host), MemoryKind::device), Engine::host);
}

TEST_F(ChooseWriteEngine, LeavesMasksWithShadesToTheHost) {
  WriteOptions options;
  options.engine = Engine::device;
  options.mask = true;
  EXPECT_EQ(choose_engine(plan_file(64, 64, options), MemoryKind::device), Engine::device);
  options.mask_bits = 8;
  EXPECT_EQ(choose_engine(plan_file(64, 64, options), MemoryKind::device), Engine::host);
}

TEST_F(ChooseWriteEngine, RefusesADeviceThatIsNotThereBeforeAnythingIsWritten) {
  EXPECT_NO_THROW(check_engine(plan_of(Engine::automatic)));
  EXPECT_NO_THROW(check_engine(plan_of(Engine::host)));
  DeviceState const state = device_state();
  if (state.usable) {
    EXPECT_NO_THROW(check_engine(plan_of(Engine::device)));
    return;
  }
  try {
    check_engine(plan_of(Engine::device));
    FAIL() << "taken";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), state.built ? ErrorKind::device : ErrorKind::unsupported) << error.what();
  }
}

}  // namespace
}  // namespace terrazzo::writing
