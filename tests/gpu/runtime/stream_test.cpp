// SPDX-License-Identifier: Apache-2.0
#include "gpu/runtime/stream.hpp"

#include "gpu/runtime/check.hpp"
#include "gpu/runtime/device_fixture.hpp"
#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace terrazzo::gpu {
namespace {

TEST(Streams, WithoutAGpuAreADeviceError) {
  if (probe_device().usable) { GTEST_SKIP() << "there is a GPU"; }
  EXPECT_THROW((void)make_stream(), Error);
  EXPECT_THROW((void)make_event(), Error);
}

using StreamsOnDevice = test::OnDevice;

TEST_F(StreamsOnDevice, DoNotWaitForTheDefaultStream) {
  StreamHandle const stream = make_stream();
  unsigned flags = 0;
  check_cuda(cudaStreamGetFlags(stream.get(), &flags), "asking a stream");
  EXPECT_EQ(flags, static_cast<unsigned>(cudaStreamNonBlocking));
}

struct Gate {
  std::atomic<bool> open{false};
  std::atomic<int> passed{0};
};

TEST_F(StreamsOnDevice, WaitForWhatIsOnAnother) {
  StreamHandle const first = make_stream(), second = make_stream();
  EventHandle const event = make_event();
  Gate gate;
  check_cuda(cudaLaunchHostFunc(
                 first.get(),
                 [](void* data) {
                   auto& g = *static_cast<Gate*>(data);
                   while (!g.open) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }
                   g.passed = 1;
                 },
                 &gate),
             "launching");
  wait_for(second.get(), first.get(), event.get());
  EXPECT_EQ(cudaStreamQuery(second.get()), cudaErrorNotReady);
  gate.open = true;
  check_cuda(cudaStreamSynchronize(second.get()), "waiting");
  EXPECT_EQ(gate.passed, 1);
}

}  // namespace
}  // namespace terrazzo::gpu
