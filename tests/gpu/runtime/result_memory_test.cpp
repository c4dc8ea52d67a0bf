// SPDX-License-Identifier: Apache-2.0
#include "gpu/runtime/result_memory.hpp"

#include "gpu/runtime/check.hpp"
#include "gpu/runtime/device_context.hpp"
#include "gpu/runtime/device_fixture.hpp"
#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

namespace terrazzo::gpu {
namespace {

// A stream of the caller whose work waits until the test lets it go.
class HeldStream {
 public:
  HeldStream() {
    check_cuda(cudaLaunchHostFunc(
                   stream_.get(),
                   [](void* data) {
                     auto const& open = *static_cast<std::atomic<bool>*>(data);
                     while (!open) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }
                   },
                   &open_),
               "launching");
  }
  ~HeldStream() { let_go(); }
  HeldStream(HeldStream const&) = delete;
  HeldStream& operator=(HeldStream const&) = delete;

  [[nodiscard]] StreamView view() const noexcept { return stream_.get(); }
  void let_go() {
    open_ = true;
    (void)cudaStreamSynchronize(stream_.get());
  }

 private:
  std::atomic<bool> open_{false};
  StreamHandle stream_ = make_stream();
};

constexpr std::size_t kBytes = 8u << 20;

class ResultMemoryOnDevice : public test::OnDevice {
 protected:
  void TearDown() override {
    if (!IsSkipped()) { (void)wait_for_pending_results(); }
  }
};

TEST(PendingResults, AreNoneWithoutAGpu) {
  if (probe_device().usable) { GTEST_SKIP() << "there is a GPU"; }
  EXPECT_EQ(pending_result_bytes(), 0u);
  EXPECT_FALSE(wait_for_pending_results());
  EXPECT_NO_THROW(free_finished_results());
}

TEST_F(ResultMemoryOnDevice, IsUsedAgainAtOnceWithoutARecordedStream) {
  current_context().pool()->trim();
  void* first = nullptr;
  {
    ResultMemory const memory(pool_allocator(), kBytes);
    first = memory.data();
  }
  EXPECT_EQ(pending_result_bytes(), 0u);
  ResultMemory const next(pool_allocator(), kBytes);
  EXPECT_EQ(next.data(), first) << "or the other tests show nothing";
}

TEST_F(ResultMemoryOnDevice, IsNotUsedAgainBeforeTheRecordedStreamIsDone) {
  HeldStream stream;
  void* first = nullptr;
  {
    ResultMemory memory(pool_allocator(), kBytes);
    first = memory.data();
    memory.record_stream(stream.view());
    check_cuda(cudaMemsetAsync(first, 0x55, kBytes, stream.view().get()), "writing");
  }
  EXPECT_EQ(pending_result_bytes(), kBytes);
  {
    ResultMemory const next(pool_allocator(), kBytes);
    EXPECT_NE(next.data(), first);
  }
  stream.let_go();
  free_finished_results();
  EXPECT_EQ(pending_result_bytes(), 0u);
}

TEST_F(ResultMemoryOnDevice, WaitsForWorkThatWasQueuedAfterTheStreamWasRecorded) {
  StreamHandle const idle = make_stream();
  HeldStream held;
  ResultMemory* memory = new ResultMemory(pool_allocator(), kBytes);
  memory->record_stream(idle.get());
  EventHandle const event = make_event();
  wait_for(idle.get(), held.view().get(), event.get());
  delete memory;
  EXPECT_EQ(pending_result_bytes(), kBytes);
  held.let_go();
  check_cuda(cudaStreamSynchronize(idle.get()), "waiting");
  free_finished_results();
  EXPECT_EQ(pending_result_bytes(), 0u);
}

TEST_F(ResultMemoryOnDevice, WaitsForEveryRecordedStream) {
  HeldStream one, two;
  {
    ResultMemory memory(pool_allocator(), kBytes);
    for (HeldStream const* stream : {&one, &two, &one}) { memory.record_stream(stream->view()); }
  }
  one.let_go();
  free_finished_results();
  EXPECT_EQ(pending_result_bytes(), kBytes) << "the second is still at work";
  two.let_go();
  free_finished_results();
  EXPECT_EQ(pending_result_bytes(), 0u);
}

TEST_F(ResultMemoryOnDevice, IsFreedAtOnceWhenTheStreamIsIdle) {
  StreamHandle const stream = make_stream();
  {
    ResultMemory memory(pool_allocator(), kBytes);
    memory.record_stream(stream.get());
    check_cuda(cudaMemsetAsync(memory.data(), 0x55, kBytes, stream.get()), "writing");
    check_cuda(cudaStreamSynchronize(stream.get()), "waiting");
  }
  (void)wait_for_pending_results();  // an event on an idle stream may take a moment
  EXPECT_EQ(pending_result_bytes(), 0u);
}

TEST_F(ResultMemoryOnDevice, TakesTheDefaultStreamsOfTheCaller) {
  {
    ResultMemory memory(pool_allocator(), kBytes);
    memory.record_stream({});
    memory.record_stream(StreamView::legacy_default());
    memory.record_stream(StreamView::per_thread_default());
  }
  (void)wait_for_pending_results();
  EXPECT_EQ(pending_result_bytes(), 0u);
}

TEST_F(ResultMemoryOnDevice, IsWaitedForWhenTheAllocatorHasNoneLeft) {
  // Gives one block at a time.
  class OneBlock final : public DeviceAllocator {
   public:
    void* allocate(std::size_t bytes, StreamView stream) override {
      if (taken_.exchange(true)) { throw Error(ErrorKind::limit, "one block is all there is"); }
      void* memory = nullptr;
      check_cuda(cudaMallocAsync(&memory, bytes, stream.get()), "test allocation");
      return memory;
    }
    void deallocate(void* memory, std::size_t, StreamView stream) noexcept override {
      (void)cudaFreeAsync(memory, stream.get());
      taken_ = false;
    }

   private:
    std::atomic<bool> taken_{false};
  };
  auto const allocator = std::make_shared<OneBlock>();
  HeldStream stream;
  {
    ResultMemory memory(allocator, kBytes);
    memory.record_stream(stream.view());
  }
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    stream.let_go();
  });
  EXPECT_NO_THROW(ResultMemory(allocator, kBytes));
  opener.join();
}

}  // namespace
}  // namespace terrazzo::gpu
