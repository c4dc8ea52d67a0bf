// SPDX-License-Identifier: Apache-2.0
#include "gpu/reduce/reduce_on_device.hpp"

#include <gtest/gtest.h>

namespace terrazzo::gpu {
namespace {

using ReduceRankOnDevice = test::ReduceOnDevice;

TEST_F(ReduceRankOnDevice, EqualsTheHost) {
  for (Resampling const method : {Resampling::minimum, Resampling::maximum, Resampling::median, Resampling::mode}) {
    test::expect_samples_of_the_host(method, 40, [](DType dtype) { return !is_complex(dtype); });
  }
}

}  // namespace
}  // namespace terrazzo::gpu
