// SPDX-License-Identifier: Apache-2.0
//
// probe_test.cpp has the tests of the default budget, which need a GPU.
#include "gpu/runtime/device_context.hpp"

#include "gpu/runtime/current_device.hpp"
#include "gpu/runtime/device_fixture.hpp"
#include "gpu/runtime/device_memory.hpp"
#include "gpu/runtime/stream.hpp"
#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

namespace terrazzo::gpu {
namespace {

constexpr std::uint64_t kGib = std::uint64_t{1} << 30;

TEST(DeviceContext, TakesTheRequestedBudget) { EXPECT_EQ(DeviceContext(0).budget_bytes(12345), 12345u); }

TEST(DeviceContext, KeepsTheDefaultBudgetOfFirstUse) {
  DeviceContext context(0);
  EXPECT_EQ(context.default_budget_bytes(4 * kGib), kGib);
  EXPECT_EQ(context.default_budget_bytes(100 * kGib), kGib);
}

struct Counter {
  explicit Counter(DeviceContext& context) : device(context.device()) {}
  int device;
  int value = 0;
};

TEST(DeviceContext, MakesAPartOnce) {
  DeviceContext context(3);
  context.part<Counter>().value = 7;
  EXPECT_EQ(context.part<Counter>().value, 7);
  EXPECT_EQ(context.part<Counter>().device, 3);
}

TEST(DeviceContext, SharesNothingWithAnotherOfTheSameGpu) {
  DeviceContext first(0), second(0);
  EXPECT_EQ(first.default_budget_bytes(4 * kGib), kGib);
  EXPECT_EQ(second.default_budget_bytes(8 * kGib), 2 * kGib);
  first.part<Counter>().value = 7;
  EXPECT_EQ(second.part<Counter>().value, 0);
}

TEST(DeviceContext, OfTheProcessIsOneForEachGpu) {
  EXPECT_EQ(&device_context(62), &device_context(62));
  EXPECT_NE(&device_context(62), &device_context(63));
  EXPECT_EQ(device_context(63).device(), 63);
}

TEST(DeviceContext, WithoutAGpuIsFoundByNobody) {
  if (probe_device().usable) { GTEST_SKIP() << "there is a GPU"; }
  EXPECT_EQ(find_current_context(), nullptr);
  EXPECT_THROW((void)current_context(), Error);
  DeviceContext context(0);
  EXPECT_THROW((void)context.pool(), Error);
  EXPECT_EQ(context.speed().all_tiles, 1) << "unknown properties count as an H200's";
}

TEST(DeviceSpeed, IsRelativeToAnH200) {
  DeviceSpeed const h200 = speed_of(kH200);
  EXPECT_EQ(h200.all_tiles, 1);
  EXPECT_EQ(h200.one_tile, 1);
  EXPECT_EQ(h200.link, 1);
  DeviceSpeed const unknown = speed_of({});
  EXPECT_EQ(unknown.all_tiles, 1);
  EXPECT_EQ(unknown.link, 1);
  // A third of the multiprocessors at the same clock, behind eight lanes of PCI Express 4.
  DeviceSpeed const small =
      speed_of({.multiprocessors = 44, .clock_khz = 1'980'000, .link_gigatransfers = 16, .link_lanes = 8});
  EXPECT_DOUBLE_EQ(small.all_tiles, 1.0 / 3);
  EXPECT_EQ(small.one_tile, 1) << "one tile keeps one multiprocessor busy";
  EXPECT_EQ(small.link, 0.25);
}

TEST(DeviceSpeed, ReadsNumbersOfPciFolders) {
  EXPECT_EQ(leading_number("32.0 GT/s PCIe"), 32);
  EXPECT_EQ(leading_number("16"), 16);
  EXPECT_EQ(leading_number("Unknown"), 0);
  EXPECT_EQ(leading_number(""), 0);
}

using ContextOnDevice = test::OnDevice;

TEST_F(ContextOnDevice, HasAPoolOfItsOwn) {
  constexpr std::size_t kBytes = std::size_t{8} << 20;
  DeviceContext first(current_device()), second(current_device());
  StreamHandle const stream = make_stream();
  DeviceBuffer const buffer(first.pool(), kBytes, stream.get());
  check_cuda(cudaStreamSynchronize(stream.get()), "waiting");
  EXPECT_GE(first.pool()->use().used_bytes, kBytes);
  EXPECT_EQ(second.pool()->use().used_bytes, 0u);
}

TEST_F(ContextOnDevice, KnowsItsSpeed) {
  DeviceSpeed const speed = current_context().speed();
  EXPECT_GT(speed.all_tiles, 0);
  EXPECT_GT(speed.one_tile, 0);
  EXPECT_GT(speed.link, 0);
}

}  // namespace
}  // namespace terrazzo::gpu
