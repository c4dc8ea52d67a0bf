// SPDX-License-Identifier: Apache-2.0
#include "gpu/runtime/guarded_wait.hpp"

#include "gpu/runtime/check.hpp"
#include "gpu/runtime/device_context.hpp"
#include "gpu/runtime/device_fixture.hpp"
#include "gpu/runtime/device_memory.hpp"
#include "gpu/runtime/lost_device.hpp"
#include "gpu/runtime/pinned_pool.hpp"
#include "gpu/runtime/stream.hpp"
#include "support/failure.hpp"
#include "terrazzo/error.hpp"
#include "terrazzo/settings.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace terrazzo::gpu {
namespace {

using namespace std::chrono_literals;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(GuardedWait, AsksUntilTheAnswerIsThere) {
  int asked = 0;
  wait_until_done([&] { return ++asked < 4 ? cudaErrorNotReady : cudaSuccess; }, 60, "decoding");
  EXPECT_EQ(asked, 4);
}

TEST(GuardedWait, TellsWhatCudaReports) {
  Error const error =
      testing::failure_of([] { wait_until_done([] { return cudaErrorIllegalAddress; }, 60, "decoding a batch"); });
  EXPECT_EQ(error.kind(), ErrorKind::device);
  EXPECT_NE(error.message().find("decoding a batch: cudaErrorIllegalAddress"), std::string::npos) << error.message();
  EXPECT_FALSE(device_is_lost()) << "an error is an answer";
}

TEST(GuardedWait, CountsTheWaitsOfTheHost) {
  std::uint64_t const before = host_waits();
  wait_until_done([] { return cudaSuccess; }, 60, "decoding");
  EXPECT_EQ(host_waits() - before, 1U);
}

// ---- in processes of their own: the device stays lost

[[noreturn]] void finish(bool right) { std::exit(right ? 0 : 1); }

[[noreturn]] void wait_for_ever() {
  auto const never = [] { return cudaErrorNotReady; };
  Error const error = testing::failure_of([&] { wait_until_done(never, 0.05, "decoding 7 tiles"); });
  std::fprintf(stderr, "%s\n", error.what());
  bool right = error.kind() == ErrorKind::device && device_is_lost();
  // Whoever else waits stops at once, and nobody begins.
  auto const start = std::chrono::steady_clock::now();
  Error const next = testing::failure_of([&] { wait_until_done(never, 60, "copying"); });
  right = right && next.message().find("decoding 7 tiles") != std::string::npos;
  right = right && !sync_quietly(cudaStream_t{}) && !sync_quietly(cudaEvent_t{});
  finish(right && seconds_since(start) < 5);
}

TEST(GuardedWaitDeathTest, GivesTheDeviceUpAfterTheGuardTime) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(wait_for_ever(), ::testing::ExitedWithCode(0),
              "decoding 7 tiles: no answer from the GPU for 0.05 s .TERRAZZO_DEVICE_GUARD.");
}

[[noreturn]] void wait_while_another_loses() {
  std::thread loser([] {
    std::this_thread::sleep_for(100ms);
    lose_device("another thread's batch hung");
  });
  auto const start = std::chrono::steady_clock::now();
  Error const error = testing::failure_of([] { wait_until_done([] { return cudaErrorNotReady; }, 3600, "decoding"); });
  loser.join();
  finish(error.message().find("another thread's batch hung") != std::string::npos && seconds_since(start) < 30);
}

TEST(GuardedWaitDeathTest, EndsWithTheWaitOfAnotherThread) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(wait_while_another_loses(), ::testing::ExitedWithCode(0), "");
}

// ---- on a GPU, where a function of the host stands for a kernel that takes its time

void block(cudaStream_t stream, std::chrono::milliseconds& time) {
  check_cuda(
      cudaLaunchHostFunc(
          stream, [](void* t) { std::this_thread::sleep_for(*static_cast<std::chrono::milliseconds*>(t)); }, &time),
      "launching");
}

void set_guard(double guard_s) {
  Settings changed = settings();
  changed.device_guard_s = guard_s;
  set_settings(changed);
}

using GuardedWaitOnDevice = test::OnDevice;

TEST_F(GuardedWaitOnDevice, WaitsForStreamsAndEvents) {
  StreamHandle const stream = make_stream();
  EventHandle const event = make_event();
  static std::chrono::milliseconds time = 80ms;
  auto const start = std::chrono::steady_clock::now();
  block(stream.get(), time);
  check_cuda(cudaEventRecord(event.get(), stream.get()), "recording");
  sync_event(event.get(), "waiting");
  EXPECT_GE(seconds_since(start), 0.08);
  block(stream.get(), time);
  sync_stream(stream.get(), "waiting");
  EXPECT_GE(seconds_since(start), 0.16);
}

TEST_F(GuardedWaitOnDevice, DoesNotCountTheTimeOfTheCallersOwnWork) {
  StreamHandle const callers = make_stream(), ours = make_stream();
  EventHandle const event = make_event();
  static std::chrono::milliseconds time = 700ms;
  set_guard(0.2);
  block(callers.get(), time);
  wait_for(ours.get(), callers.get(), event.get());
  CallersWork const work(event.get());
  EXPECT_NO_THROW(sync_stream(ours.get(), "waiting"));
  set_guard(0);
  EXPECT_FALSE(device_is_lost());
}

[[noreturn]] void lose_a_device_that_is_there() {
  set_guard(0.2);
  static std::chrono::milliseconds time = 20s;
  auto const start = std::chrono::steady_clock::now();
  bool right = false;
  {
    StreamHandle const stream = make_stream();
    PinnedMemory const pinned = make_pinned(1 << 20);
    DeviceBuffer const buffer(pool_allocator(), 1 << 20, stream.get());
    sync_stream(stream.get(), "allocating");
    block(stream.get(), time);
    Error const error = testing::failure_of([&] { sync_stream(stream.get(), "decoding"); });
    right = error.kind() == ErrorKind::device && error.message().find("no answer") != std::string::npos;
  }  // nothing of it is freed: that would wait
  right = right && testing::failure_of([] { (void)make_stream(); }).kind() == ErrorKind::device;
  std::fprintf(stderr, "%d after %.3f s\n", right ? 1 : 0, seconds_since(start));
  finish(right && seconds_since(start) < 5);
}

TEST_F(GuardedWaitOnDevice, AbandonsWhatTheDeviceMayStillUseAndLetsTheProcessEnd) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(lose_a_device_that_is_there(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace terrazzo::gpu
