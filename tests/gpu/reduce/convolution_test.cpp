// SPDX-License-Identifier: Apache-2.0
#include "gpu/reduce/reduce_on_device.hpp"

#include <gtest/gtest.h>

namespace terrazzo::gpu {
namespace {

using ReduceKernelOnDevice = test::ReduceOnDevice;

TEST_F(ReduceKernelOnDevice, EqualsTheHost) {
  for (Resampling const method :
       {Resampling::bilinear, Resampling::cubic, Resampling::cubic_spline, Resampling::lanczos}) {
    test::expect_samples_of_the_host(method, 40, [](DType dtype) { return !is_complex(dtype); });
  }
}

}  // namespace
}  // namespace terrazzo::gpu
