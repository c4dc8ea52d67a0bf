// SPDX-License-Identifier: Apache-2.0
//
// Every wait of the host for the GPU. Kernels of NVIDIA's libraries may never end on damaged input, so a wait has an
// end of its own: after the guard time (Settings::device_guard_s) the device is lost (lost_device.hpp) and the wait
// throws. Work that a caller has queued on their own stream may take as long as it likes: the guard time begins when it
// is done.
//
// Thread rule: any thread may wait for any stream or event.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>

namespace terrazzo::gpu {

// Block until the work recorded by `event`, or all work on `stream`, is done. Throw `device`: what CUDA reports, that
// the guard time has passed, or that the device is lost.
void sync_event(cudaEvent_t event, char const* doing);
void sync_stream(cudaStream_t stream, char const* doing);

// For destructors: the same without a throw. False when the GPU may still be at work: what it uses must be abandoned.
bool sync_quietly(cudaEvent_t event) noexcept;
bool sync_quietly(cudaStream_t stream) noexcept;

// Waits for a stream of the caller's, without a guard: what runs there is theirs.
void sync_callers_stream(cudaStream_t stream, char const* doing);

// While it lives, waits take into account that our work may be queued behind this event of a caller's stream. An event
// that was never recorded counts as done.
class CallersWork {
 public:
  explicit CallersWork(cudaEvent_t event);
  ~CallersWork();
  CallersWork(CallersWork const&) = delete;
  CallersWork& operator=(CallersWork const&) = delete;

 private:
  cudaEvent_t event_;
};

// How often the host has waited for the GPU, in this process. Tests hold batches against it.
[[nodiscard]] std::uint64_t host_waits() noexcept;

// The wait itself: asks `query` until its answer is not cudaErrorNotReady. For tests.
void wait_until_done(std::function<cudaError_t()> const& query, double guard_s, char const* doing);

}  // namespace terrazzo::gpu
