// SPDX-License-Identifier: Apache-2.0
#include "gpu/runtime/pinned_pool.hpp"

#include "gpu/runtime/check.hpp"
#include "gpu/runtime/device_fixture.hpp"
#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <future>
#include <set>
#include <thread>
#include <vector>

namespace terrazzo::gpu {
namespace {

TEST(PinnedPool, WithoutAGpuThrowsAndLosesNoChunk) {
  if (probe_device().usable) { GTEST_SKIP() << "there is a GPU"; }
  // Were a chunk lost with each error, the pool would run dry and the last calls wait for ever.
  for (std::size_t i = 0; i < 2 * PinnedPool::kMaxChunks; ++i) {
    EXPECT_THROW((void)PinnedPool::instance().acquire(), Error);
  }
  EXPECT_NO_THROW(PinnedPool::instance().trim());
}

using PinnedPoolOnDevice = test::OnDevice;

TEST_F(PinnedPoolOnDevice, HandsOutEachChunkOnce) {
  std::vector<PinnedPool::Chunk> chunks;
  std::set<std::byte*> places;
  for (std::size_t i = 0; i < PinnedPool::kMaxChunks; ++i) {
    chunks.push_back(PinnedPool::instance().acquire());
    std::memset(chunks.back().data(), static_cast<int>(i), PinnedPool::kChunkBytes);
    places.insert(chunks.back().data());
  }
  EXPECT_EQ(places.size(), PinnedPool::kMaxChunks);
  auto waiting = std::async(std::launch::async, [] { return PinnedPool::instance().acquire().data(); });
  EXPECT_EQ(waiting.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout) << "all are taken";
  std::byte* const last = chunks.back().data();
  chunks.pop_back();
  EXPECT_EQ(waiting.get(), last);
}

TEST_F(PinnedPoolOnDevice, WaitsForCopiesBeforeAChunkIsTakenAgain) {
  PinnedPool::instance().trim();
  StreamHandle const stream = make_stream();
  std::atomic<bool> open{false};
  std::vector<PinnedPool::Chunk> others;
  PinnedPool::Chunk chunk = PinnedPool::instance().acquire();
  std::byte* const data = chunk.data();
  for (std::size_t i = 1; i < PinnedPool::kMaxChunks; ++i) { others.push_back(PinnedPool::instance().acquire()); }
  check_cuda(cudaLaunchHostFunc(
                 stream.get(),
                 [](void* gate) {
                   auto& is_open = *static_cast<std::atomic<bool>*>(gate);
                   while (!is_open) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }
                 },
                 &open),
             "launching");
  chunk.release_after(stream.get());
  auto waiting = std::async(std::launch::async, [] { return PinnedPool::instance().acquire().data(); });
  EXPECT_EQ(waiting.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  open = true;
  EXPECT_EQ(waiting.get(), data);
}

TEST_F(PinnedPoolOnDevice, IsUsedByManyThreads) {
  std::vector<std::thread> threads;
  std::atomic<int> mixed{0};
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        PinnedPool::Chunk const chunk = PinnedPool::instance().acquire();
        std::memset(chunk.data(), t, 256);
        std::this_thread::yield();
        for (int at = 0; at < 256; ++at) { mixed += chunk.data()[at] != static_cast<std::byte>(t); }
      }
    });
  }
  for (std::thread& thread : threads) { thread.join(); }
  EXPECT_EQ(mixed, 0);
}

}  // namespace
}  // namespace terrazzo::gpu
