// SPDX-License-Identifier: Apache-2.0
#include "gpu/reduce/reduce_on_device.hpp"

#include "gpu/reduce/reduce.hpp"
#include "gpu/runtime/device_context.hpp"
#include "tile/reduce_by_samples.hpp"

#include <cstdint>

namespace terrazzo::gpu::test {

void expect_samples_of_the_host(tile::test::ReduceScene scene) {
  DType const dtype = scene.spec.dtype;
  DeviceCopy const source(scene.source.bytes), mask(scene.mask.bytes);
  DeviceCopy const result(scene.result.bytes), result_mask(scene.result_mask.bytes);
  DeviceRows from{scene.source.first, scene.source.view<DeviceView>(source.get(), dtype), {}};
  DeviceRows to{scene.result.first, scene.result.view<DeviceView>(result.get(), dtype), {}};
  if (scene.spec.mask) {
    from.mask = scene.mask.view<DeviceView>(mask.get(), DType::u8);
    to.mask = scene.result_mask.view<DeviceView>(result_mask.get(), DType::u8);
  }
  {
    StreamHandle const stream = make_stream();
    DeviceReduction const reduction(scene.spec, pool_allocator(), stream.get());
    reduction.reduce(from, to, stream.get());
    check_cuda(cudaStreamSynchronize(stream.get()), "reducing");
  }
  tile::test::reduce_by_samples(scene);
  EXPECT_TRUE(result.back() == scene.result.bytes) << scene;
  EXPECT_TRUE(result_mask.back() == scene.result_mask.bytes) << scene;
}

void expect_samples_of_the_host(Resampling method, int count, std::function<bool(DType)> const& takes) {
  tile::test::SceneMaker scenes(static_cast<std::uint32_t>(method) + 500);
  for (int type = 0; type <= static_cast<int>(DType::cf64); ++type) {
    auto const dtype = static_cast<DType>(type);
    if (!takes(dtype)) { continue; }
    for (int i = 0; i < count && !::testing::Test::HasFailure(); ++i) {
      std::uint32_t const widest = i % 8 == 0 ? 700 : 40;  // more than a block, and about a warp
      expect_samples_of_the_host(scenes.make(method, dtype, widest, 20));
    }
  }
}

bool is_of_halves(tile::test::ReduceScene scene) { return tile::test::reduce_by_halves(scene); }

}  // namespace terrazzo::gpu::test
