// SPDX-License-Identifier: Apache-2.0
#include "gpu/runtime/lost_device.hpp"

#include "gpu/runtime/check.hpp"
#include "gpu/runtime/probe.hpp"
#include "terrazzo/error.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string>

namespace terrazzo::gpu {
namespace {

TEST(LostDevice, IsNotLostAtFirst) {
  EXPECT_FALSE(device_is_lost());
  EXPECT_EQ(why_device_is_lost(), "");
}

// A process of its own: the device stays lost.
[[noreturn]] void lose_and_ask() {
  lose_device("a batch of dem.tif hung");
  lose_device("another reason");
  bool right = device_is_lost() && why_device_is_lost() == "a batch of dem.tif hung";
  DeviceState const state = probe_device();
  right = right && !state.usable && state.reason == why_device_is_lost();
  for (auto const& call : {+[] { require_device(); }, +[] { check_cuda(cudaSuccess, "copying"); }}) {
    try {
      call();
      right = false;
    } catch (Error const& error) {
      right = right && error.kind() == ErrorKind::device &&
              error.message().find("a batch of dem.tif hung") != std::string::npos;
    }
  }
  std::exit(right ? 0 : 1);
}

// As libnvcomp's destructor does, while a kernel runs.
void wait_for_ever() {
  for (;;) { pause(); }
}

[[noreturn]] void lose_and_exit() {
  std::atexit(&wait_for_ever);
  lose_device("a batch hung");
  std::cerr << "told";
  std::exit(7);
}

TEST(LostDeviceDeathTest, LetsTheProcessExitWithItsCode) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(lose_and_exit(), ::testing::ExitedWithCode(7), "told");
}

TEST(LostDeviceDeathTest, FailsEveryLaterCallWithTheFirstReason) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(lose_and_ask(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace terrazzo::gpu
