// SPDX-License-Identifier: Apache-2.0
//
// Tests that go by the process's tile cache have it at a size of their own, whatever the environment says.
#pragma once

#include "terrazzo/settings.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace terrazzo::reading::test {

class WithCache : public ::testing::Test {
 protected:
  void SetUp() override { limit(64 << 20); }
  void TearDown() override { set_settings(before_); }
  void limit(std::uint64_t bytes) {
    Settings settings = before_;
    settings.tile_cache_bytes = bytes;
    set_settings(settings);
  }

 private:
  Settings const before_ = settings();
};

}  // namespace terrazzo::reading::test
