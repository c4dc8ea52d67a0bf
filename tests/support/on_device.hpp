// SPDX-License-Identifier: Apache-2.0
//
// Tests that need a GPU skip themselves on a machine without one, with the reason.
#pragma once

#include "terrazzo/device.hpp"

#include <gtest/gtest.h>

namespace terrazzo::testing {

class OnDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    if (DeviceState const state = device_state(); !state.usable) { GTEST_SKIP() << "no GPU: " << state.reason; }
  }
};

}  // namespace terrazzo::testing
