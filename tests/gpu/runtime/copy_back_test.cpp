// SPDX-License-Identifier: Apache-2.0
#include "gpu/runtime/copy_back.hpp"

#include "device_fixture.hpp"

#include "gpu/runtime/check.hpp"
#include "gpu/runtime/device_context.hpp"
#include "gpu/runtime/device_memory.hpp"
#include "gpu/runtime/pinned_buffer.hpp"
#include "gpu/runtime/stream.hpp"

#include <gtest/gtest.h>

namespace terrazzo::gpu {
namespace {

class CopyBack : public test::OnDevice {};

TEST_F(CopyBack, BringsBytesAndCountsThem) {
  StreamHandle const stream = make_stream();
  DeviceBuffer const device(pool_allocator(), 1000, stream.get());
  check_cuda(cudaMemsetAsync(device.data(), 0x5A, 1000, stream.get()), "filling");
  PinnedBuffer host;
  host.reserve(1000);
  CopyCounts const before = copies_back();
  copy_back(host.data(), device.data(), 400, stream.get(), "copying");
  copy_back(host.data() + 400, device.data() + 400, 600, stream.get(), "copying");
  check_cuda(cudaStreamSynchronize(stream.get()), "copying");
  for (std::size_t i = 0; i < 1000; ++i) { ASSERT_EQ(host.data()[i], std::byte{0x5A}); }
  EXPECT_EQ(copies_back().copies - before.copies, 2U);
  EXPECT_EQ(copies_back().bytes - before.bytes, 1000U);
}

}  // namespace
}  // namespace terrazzo::gpu
