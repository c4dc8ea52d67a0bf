// SPDX-License-Identifier: Apache-2.0
#include "gpu/reduce/reduce_on_device.hpp"

#include <gtest/gtest.h>

namespace terrazzo::gpu {
namespace {

using ReduceNearestOnDevice = test::ReduceOnDevice;

TEST_F(ReduceNearestOnDevice, EqualsTheHost) {
  test::expect_samples_of_the_host(Resampling::nearest, 40, [](DType) { return true; });
}

}  // namespace
}  // namespace terrazzo::gpu
