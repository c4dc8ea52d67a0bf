// SPDX-License-Identifier: Apache-2.0
#include "gpu/runtime/probe.hpp"
#include "gpu/runtime/device_context.hpp"

#include "gpu/runtime/check.hpp"
#include "gpu/runtime/device_fixture.hpp"
#include "gpu/runtime/device_memory.hpp"
#include "gpu/runtime/stream.hpp"
#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

namespace terrazzo::gpu {
namespace {

TEST(ProbeDevice, IsUsableOrSaysWhyNot) {
  DeviceState const state = probe_device();
  EXPECT_TRUE(state.built);
  EXPECT_GE(state.runtime_version, 12000);
  EXPECT_EQ(state.usable, state.reason.empty()) << state.reason;
}

TEST(RequireDevice, ThrowsDeviceWithTheProbesReason) {
  DeviceState const state = probe_device();
  if (state.usable) { GTEST_SKIP() << "there is a GPU: " << state.name; }
  try {
    require_device();
    FAIL() << "nothing was thrown";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::device);
    EXPECT_NE(error.message().find(state.reason), std::string::npos) << error.message();
  }
  EXPECT_THROW(require_device(), Error) << "asked again";
}

// In a process of its own: the environment is the test's.
[[noreturn]] void print_state_when_disabled(char const* list) {
  setenv("TERRAZZO_DISABLE", list, 1);
  DeviceState const state = probe_device();
  ErrorKind kind = ErrorKind::usage;
  try {
    require_device();
  } catch (Error const& error) { kind = error.kind(); }
  std::fprintf(stderr, "usable=%d %s %s", state.usable, state.reason.c_str(), std::string(to_string(kind)).c_str());
  std::exit(0);
}

TEST(ProbeDeviceDeathTest, HonoursTerrazzoDisable) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (char const* const list : {"gpu", "nvcomp,gpu", "gpu,kvikio"}) {
    EXPECT_EXIT(print_state_when_disabled(list), ::testing::ExitedWithCode(0), "usable=0 .*TERRAZZO_DISABLE.* device")
        << list;
  }
}

using ProbeOnDevice = test::OnDevice;

TEST_F(ProbeOnDevice, DescribesTheGpu) {
  DeviceState const state = probe_device();
  EXPECT_FALSE(state.name.empty());
  EXPECT_GE(state.compute_major, 7);
  EXPECT_GT(state.multiprocessors, 0);
  EXPECT_GT(state.free_bytes, 0u);
  EXPECT_GE(state.total_bytes, state.free_bytes);
  EXPECT_NO_THROW(require_device());
}

TEST_F(ProbeOnDevice, TakesAtMostAQuarterOfTheFreeMemoryByDefault) {
  if (std::getenv("TERRAZZO_DEVICE_BUDGET") != nullptr) { GTEST_SKIP() << "TERRAZZO_DEVICE_BUDGET is set"; }
  DeviceState const state = probe_device();
  EXPECT_GT(current_context().budget_bytes(0), 0u);
  EXPECT_LE(current_context().budget_bytes(0), state.total_bytes / 4);
  EXPECT_EQ(state.default_budget_bytes, current_context().budget_bytes(0));
}

TEST_F(ProbeOnDevice, CountsWhatThePoolHoldsAsFreeForTheNextOne) {
  if (std::getenv("TERRAZZO_DEVICE_BUDGET") != nullptr) { GTEST_SKIP() << "TERRAZZO_DEVICE_BUDGET is set"; }
  current_context().pool()->trim();  // of what other tests left there
  DeviceState const before = probe_device();
  StreamHandle const stream = make_stream();
  { DeviceBuffer const much(pool_allocator(), before.free_bytes / 8 * 7, stream.get()); }
  check_cuda(cudaStreamSynchronize(stream.get()), "giving memory back to the pool");
  DeviceState const after = probe_device();
  current_context().pool()->trim();
  EXPECT_LT(after.free_bytes, before.free_bytes / 4) << "or nothing is shown";
  EXPECT_EQ(after.default_budget_bytes, before.default_budget_bytes);
  EXPECT_EQ(current_context().budget_bytes(0), before.default_budget_bytes);
}

}  // namespace
}  // namespace terrazzo::gpu
