// SPDX-License-Identifier: Apache-2.0
#include "gpu/runtime/current_device.hpp"

#include "gpu/runtime/device_fixture.hpp"
#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

namespace terrazzo::gpu {
namespace {

TEST(ChooseDevice, WithoutAGpuLeavesTheErrorToTheWorkThatFollows) {
  if (probe_device().usable) { GTEST_SKIP() << "there is a GPU"; }
  EXPECT_EQ(choose_device(0), nullptr);
  EXPECT_EQ(choose_device({}), nullptr);
  EXPECT_THROW((void)current_device(), Error);
  EXPECT_THROW(CurrentDevice(0), Error);
}

using ChooseOnDevice = test::OnDevice;

TEST_F(ChooseOnDevice, TakesOnlyGpusOfTheMachine) {
  EXPECT_NE(choose_device(0), nullptr);
  EXPECT_EQ(choose_device({}), nullptr);
  for (int const number : {-1, 1000}) {
    try {
      (void)choose_device(number);
      ADD_FAILURE() << number;
    } catch (Error const& error) { EXPECT_EQ(error.kind(), ErrorKind::usage); }
  }
}

TEST_F(ChooseOnDevice, RestoresTheDeviceThatWasCurrent) {
  int const before = current_device();
  int count = 0;
  check_cuda(cudaGetDeviceCount(&count), "counting");
  {
    auto const here = choose_device(count - 1);
    EXPECT_EQ(current_device(), count - 1);
  }
  EXPECT_EQ(current_device(), before);
}

}  // namespace
}  // namespace terrazzo::gpu
