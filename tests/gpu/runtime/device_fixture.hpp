// SPDX-License-Identifier: Apache-2.0
//
// Tests that need a GPU skip themselves where there is none, with the reason.
#pragma once

#include "gpu/runtime/probe.hpp"

#include <gtest/gtest.h>

namespace terrazzo::gpu::test {

class OnDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    if (DeviceState const state = probe_device(); !state.usable) { GTEST_SKIP() << "no GPU: " << state.reason; }
  }
};

}  // namespace terrazzo::gpu::test
