// SPDX-License-Identifier: Apache-2.0
//
// The samples that device kernels make one by one (src/tile/reduce_*.hpp), against the rows of the host writer: every
// method and type, bit for bit.
#include "tile/reduce/reduction.hpp"
#include "tile/reduce_by_samples.hpp"
#include "tile/reduce_scene.hpp"

#include <gtest/gtest.h>

namespace terrazzo::tile {
namespace {

using tile::test::ReduceScene;
using tile::test::SceneMaker;

// What the host writer makes of a scene, in the scene's layout.
ReduceScene made_by_writer(ReduceScene scene) {
  DType const dtype = scene.spec.dtype;
  HostRows source{scene.source.first, scene.source.view<HostView>(scene.source.bytes.data(), dtype), {}};
  HostRows result{scene.result.first, scene.result.view<HostView>(scene.result.bytes.data(), dtype), {}};
  if (scene.spec.mask) {
    source.mask = scene.mask.view<HostView>(scene.mask.bytes.data(), DType::u8);
    result.mask = scene.result_mask.view<HostView>(scene.result_mask.bytes.data(), DType::u8);
  }
  Reduction(scene.spec).reduce(source, result);
  return scene;
}

class ReduceSamples : public ::testing::TestWithParam<Resampling> {};

TEST_P(ReduceSamples, AreThoseOfWholeRows) {
  Resampling const method = GetParam();
  bool const takes_complex =
      method == Resampling::nearest || method == Resampling::average || method == Resampling::rms;
  SceneMaker scenes(static_cast<std::uint32_t>(method) + 1);
  for (int type = 0; type <= static_cast<int>(DType::cf64); ++type) {
    auto const dtype = static_cast<DType>(type);
    if (is_complex(dtype) && !takes_complex) { continue; }
    for (int i = 0; i < 80 && !HasFailure(); ++i) {
      ReduceScene scene = scenes.make(method, dtype, 30, 20);
      ReduceScene const wanted = made_by_writer(scene);
      tile::test::reduce_by_samples(scene);
      EXPECT_TRUE(scene.result.bytes == wanted.result.bytes) << scene;
      EXPECT_TRUE(scene.result_mask.bytes == wanted.result_mask.bytes) << scene;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, ReduceSamples,
                         ::testing::Values(Resampling::nearest, Resampling::average, Resampling::bilinear,
                                           Resampling::cubic, Resampling::cubic_spline, Resampling::lanczos,
                                           Resampling::mode, Resampling::minimum, Resampling::maximum,
                                           Resampling::median, Resampling::rms),
                         [](auto const& method) { return "Method" + std::to_string(static_cast<int>(method.param)); });

TEST(ReduceHalves, AreThoseOfWholeRows) {
  SceneMaker scenes(77);
  for (int type = 0; type <= static_cast<int>(DType::f64); ++type) {
    for (int i = 0; i < 100 && !HasFailure(); ++i) {
      ReduceScene scene = scenes.make_halved(static_cast<DType>(type), 40, 20);
      ReduceScene const wanted = made_by_writer(scene);
      EXPECT_TRUE(tile::test::reduce_by_halves(scene)) << scene;
      EXPECT_TRUE(scene.result.bytes == wanted.result.bytes) << scene;
    }
  }
}

}  // namespace
}  // namespace terrazzo::tile
