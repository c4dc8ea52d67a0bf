// SPDX-License-Identifier: Apache-2.0
#include "gpu/reduce/reduce_on_device.hpp"

#include <gtest/gtest.h>

namespace terrazzo::gpu {
namespace {

using ReduceMaskOnDevice = test::ReduceOnDevice;

// Of one method for each kind of mask.
TEST_F(ReduceMaskOnDevice, EqualsTheHost) {
  tile::test::SceneMaker scenes(9);
  for (Resampling const method : {Resampling::nearest, Resampling::average, Resampling::mode, Resampling::bilinear,
                                  Resampling::cubic_spline, Resampling::lanczos}) {
    for (int found = 0; found < 40 && !HasFailure();) {
      DType const dtype = method == Resampling::average && found % 2 != 0 ? DType::cf32 : DType::u8;
      tile::test::ReduceScene const scene = scenes.make(method, dtype, found % 8 == 0 ? 700 : 40, 20);
      if (!scene.spec.mask) { continue; }
      test::expect_samples_of_the_host(scene);
      ++found;
    }
  }
}

}  // namespace
}  // namespace terrazzo::gpu
