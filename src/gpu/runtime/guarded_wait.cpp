// SPDX-License-Identifier: Apache-2.0
#include "gpu/runtime/guarded_wait.hpp"

#include "base/settings.hpp"
#include "base/text.hpp"
#include "gpu/runtime/check.hpp"
#include "gpu/runtime/lost_device.hpp"
#include "terrazzo/error.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

namespace terrazzo::gpu {

namespace {

using Clock = std::chrono::steady_clock;

// A query takes 0.3 us (H200). Most batches are done within this time, and a sleeping thread wakes 60 us late.
constexpr auto kSpinTime = std::chrono::milliseconds(50);
// Pause between two queries, which take a lock of the driver that other threads need for their uploads.
constexpr auto kPauseTime = std::chrono::microseconds(5);
constexpr auto kSleepTime = std::chrono::microseconds(200);

std::atomic<std::uint64_t> wait_count{0};

struct Callers {
  std::mutex mutex;
  std::vector<cudaEvent_t> events;
};

Callers& callers() {
  static auto* const instance = new Callers;  // never destroyed: at exit a read may still be running
  return *instance;
}

bool callers_are_at_work() {
  std::lock_guard const lock(callers().mutex);
  return std::ranges::any_of(callers().events,
                             [](cudaEvent_t event) { return cudaEventQuery(event) == cudaErrorNotReady; });
}

[[noreturn]] void give_up(double guard_s, char const* doing) {
  lose_device(text(doing, ": no answer from the GPU for ", guard_s, " s (TERRAZZO_DEVICE_GUARD)"));
  throw Error(ErrorKind::device, text(why_device_is_lost(), "; this process cannot use it any more"));
}

template <class Wait>
bool quietly(Wait const& wait) noexcept {
  if (device_is_lost()) { return false; }
  try {
    wait();
    return true;
  } catch (Error const&) {  // a failed stream is idle; a lost device is not
    return !device_is_lost();
  }
}

}  // namespace

std::uint64_t host_waits() noexcept { return wait_count.load(std::memory_order_relaxed); }

void wait_until_done(std::function<cudaError_t()> const& query, double guard_s, char const* doing) {
  wait_count.fetch_add(1, std::memory_order_relaxed);
  auto const begin = Clock::now();
  auto guard_begin = begin;
  for (;;) {
    cudaError_t const result = query();
    if (result != cudaErrorNotReady) { return check_cuda(result, doing); }
    if (device_is_lost()) { check_cuda(cudaSuccess, doing); }  // throws: another thread's wait ended
    auto const now = Clock::now();
    if (std::chrono::duration<double>(now - guard_begin).count() > guard_s) {
      if (!callers_are_at_work()) { give_up(guard_s, doing); }
      guard_begin = now;
    }
    if (now - begin > kSpinTime) {
      std::this_thread::sleep_for(kSleepTime);
    } else {
      while (Clock::now() < now + kPauseTime) { std::this_thread::yield(); }
    }
  }
}

void sync_event(cudaEvent_t event, char const* doing) {
  wait_until_done([event] { return cudaEventQuery(event); }, resolve_device_guard(), doing);
}

void sync_stream(cudaStream_t stream, char const* doing) {
  wait_until_done([stream] { return cudaStreamQuery(stream); }, resolve_device_guard(), doing);
}

bool sync_quietly(cudaEvent_t event) noexcept {
  return quietly([event] { sync_event(event, "waiting for the GPU"); });
}

bool sync_quietly(cudaStream_t stream) noexcept {
  return quietly([stream] { sync_stream(stream, "waiting for the GPU"); });
}

void sync_callers_stream(cudaStream_t stream, char const* doing) {
  wait_count.fetch_add(1, std::memory_order_relaxed);
  check_cuda(cudaSuccess, doing);  // throws if the device is lost: the wait might not end
  check_cuda(cudaStreamSynchronize(stream), doing);
}

void sync_callers_event(cudaEvent_t event, char const* doing) {
  wait_count.fetch_add(1, std::memory_order_relaxed);
  check_cuda(cudaSuccess, doing);
  check_cuda(cudaEventSynchronize(event), doing);
}

CallersWork::CallersWork(cudaEvent_t event) : event_(event) {
  std::lock_guard const lock(callers().mutex);
  callers().events.push_back(event);
}

CallersWork::~CallersWork() {
  std::lock_guard const lock(callers().mutex);
  std::erase(callers().events, event_);
}

}  // namespace terrazzo::gpu
