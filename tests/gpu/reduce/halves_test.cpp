// SPDX-License-Identifier: Apache-2.0
#include "gpu/reduce/reduce_on_device.hpp"

#include <gtest/gtest.h>

namespace terrazzo::gpu {
namespace {

using ReduceHalvesOnDevice = test::ReduceOnDevice;

// Every number of bands that may lie together, rows that are aligned and rows that are not, ends of rows of all sizes.
TEST_F(ReduceHalvesOnDevice, EqualsTheHost) {
  tile::test::SceneMaker scenes(10);
  for (int type = 0; type <= static_cast<int>(DType::f64); ++type) {
    for (int i = 0; i < 100 && !HasFailure(); ++i) {
      tile::test::ReduceScene const scene = scenes.make_halved(static_cast<DType>(type), i % 8 == 0 ? 6'000 : 60, 12);
      EXPECT_TRUE(test::is_of_halves(scene)) << scene;
      test::expect_samples_of_the_host(scene);
    }
  }
}

}  // namespace
}  // namespace terrazzo::gpu
