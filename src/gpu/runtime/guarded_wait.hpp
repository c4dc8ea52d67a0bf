// SPDX-License-Identifier: Apache-2.0
//
// Every wait of the host for the GPU. Kernels of NVIDIA's libraries may never end on damaged input, so a wait is
// limited: after the guard time (Settings::device_guard_s) the device is lost (lost_device.hpp) and the wait throws.
// Work that a caller has queued on their own stream may take any time: the guard time begins when it is done.
//
// Thread rule: any thread may wait for any stream or event.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>

namespace terrazzo::gpu {

// Block until the work recorded by `event`, or all work on `stream`, is done. Throw `device` for an error of CUDA,
// after the guard time, or if the device is lost.
void sync_event(cudaEvent_t event, char const* doing);
void sync_stream(cudaStream_t stream, char const* doing);

// For destructors: wait without throwing. Return false if the GPU may still be working: then abandon the memory that it
// uses.
bool sync_quietly(cudaEvent_t event) noexcept;
bool sync_quietly(cudaStream_t stream) noexcept;

// Wait for a caller's stream, or an event recorded there, without a guard: the caller is responsible for its work.
void sync_callers_stream(cudaStream_t stream, char const* doing);
void sync_callers_event(cudaEvent_t event, char const* doing);

// During its lifetime, waits allow for our work being queued behind this event of a caller's stream. An event that was
// never recorded counts as done.
class CallersWork {
 public:
  explicit CallersWork(cudaEvent_t event);
  ~CallersWork();
  CallersWork(CallersWork const&) = delete;
  CallersWork& operator=(CallersWork const&) = delete;

 private:
  cudaEvent_t event_;
};

// The number of times that the host has waited for the GPU in this process. Tests compare it with the number of
// batches.
[[nodiscard]] std::uint64_t host_waits() noexcept;

// The wait itself: calls `query` until it returns something other than cudaErrorNotReady. For tests.
void wait_until_done(std::function<cudaError_t()> const& query, double guard_s, char const* doing);

}  // namespace terrazzo::gpu
