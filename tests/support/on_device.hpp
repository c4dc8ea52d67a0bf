// SPDX-License-Identifier: Apache-2.0
//
// Tests of the library that need a GPU skip themselves where there is none, with the reason.
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
