// SPDX-License-Identifier: Apache-2.0
#include "gpu/runtime/device_pool.hpp"

#include "gpu/runtime/check.hpp"
#include "gpu/runtime/device_context.hpp"
#include "gpu/runtime/device_fixture.hpp"
#include "gpu/runtime/device_memory.hpp"
#include "gpu/runtime/stream.hpp"
#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

namespace terrazzo::gpu {
namespace {

TEST(DevicePool, WithoutAGpuIsADeviceError) {
  if (probe_device().usable) { GTEST_SKIP() << "there is a GPU"; }
  EXPECT_THROW((void)pool_allocator(), Error);
  EXPECT_THROW(DevicePool(0), Error);
}

using PoolOnDevice = test::OnDevice;

TEST_F(PoolOnDevice, KeepsWhatIsFreedUntilItIsTrimmed) {
  StreamHandle const stream = make_stream();
  constexpr std::size_t kBytes = 64u << 20;
  { DeviceBuffer const buffer(pool_allocator(), kBytes, stream.get()); }
  check_cuda(cudaStreamSynchronize(stream.get()), "waiting");
  EXPECT_GE(current_context().pool()->unused_bytes(), kBytes);
  current_context().pool()->trim();
  EXPECT_LT(current_context().pool()->unused_bytes(), kBytes);
}

TEST_F(PoolOnDevice, CountsWhatIsTakenAndTheMostOfIt) {
  StreamHandle const stream = make_stream();
  constexpr std::size_t kBytes = 8u << 20;
  std::uint64_t const before = current_context().pool()->use().used_bytes;
  current_context().pool()->reset_peak();
  {
    DeviceBuffer const buffer(pool_allocator(), kBytes, stream.get());
    EXPECT_GE(current_context().pool()->use().used_bytes, before + kBytes);
  }
  check_cuda(cudaStreamSynchronize(stream.get()), "waiting");
  EXPECT_EQ(current_context().pool()->use().used_bytes, before);
  EXPECT_GE(current_context().pool()->use().peak_bytes, before + kBytes);
  current_context().pool()->reset_peak();
  EXPECT_LT(current_context().pool()->use().peak_bytes, before + kBytes);
}

}  // namespace
}  // namespace terrazzo::gpu
