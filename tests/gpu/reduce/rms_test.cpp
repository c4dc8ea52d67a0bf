// SPDX-License-Identifier: Apache-2.0
#include "gpu/reduce/reduce_on_device.hpp"

#include <gtest/gtest.h>

namespace terrazzo::gpu {
namespace {

using ReduceRmsOnDevice = test::ReduceOnDevice;

TEST_F(ReduceRmsOnDevice, EqualsTheHost) {
  test::expect_samples_of_the_host(Resampling::rms, 60, [](DType dtype) { return !is_complex(dtype); });
}

}  // namespace
}  // namespace terrazzo::gpu
