// SPDX-License-Identifier: Apache-2.0
//
// probe_test.cpp has the tests of the default budget, which need a GPU.
#include "gpu/runtime/device_budget.hpp"

#include <gtest/gtest.h>

namespace terrazzo::gpu {
namespace {

TEST(DeviceBudget, IsTheRequestedOne) { EXPECT_EQ(resolve_device_budget(12345), 12345u); }

TEST(DeviceBudget, KeepsTheDefaultOfFirstUse) {
  constexpr int kDevice = 63;  // no machine has so many
  std::uint64_t const first = default_device_budget(kDevice, std::uint64_t{4} << 30);
  EXPECT_EQ(first, std::uint64_t{1} << 30);
  EXPECT_EQ(default_device_budget(kDevice, std::uint64_t{100} << 30), first);
}

}  // namespace
}  // namespace terrazzo::gpu
