// SPDX-License-Identifier: Apache-2.0
//
// Memory of results, released after work of the caller. When the last owner is destroyed, an event is recorded on each
// stream that the caller named. Memory whose events are pending waits in a list of the process; a later allocation
// frees it when they are done.
//
// Thread rule: any thread may call anything here; a ResultMemory is destroyed once.
#pragma once

#include "gpu/runtime/device_memory.hpp"
#include "gpu/runtime/stream.hpp"
#include "terrazzo/device.hpp"
#include "terrazzo/stream.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace terrazzo::gpu {

// Memory of the current device.
class ResultMemory final : public DeviceMemory {
 public:
  // Blocks until the memory is available to any stream. Frees finished memory first.
  ResultMemory(std::shared_ptr<DeviceAllocator> allocator, std::size_t bytes);
  ~ResultMemory() override;
  ResultMemory(ResultMemory const&) = delete;
  ResultMemory& operator=(ResultMemory const&) = delete;

  [[nodiscard]] void* data() const noexcept override { return buffer_.data(); }
  void record_stream(StreamView stream) override;

 private:
  int device_;
  StreamHandle stream_;  // the memory is freed in its order
  DeviceBuffer buffer_;
  std::mutex mutex_;
  std::vector<cudaStream_t> recorded_;
  std::vector<EventHandle> events_;  // recorded early: another thread cannot name this thread's default stream
};

// Frees memory whose recorded streams are done.
void free_finished_results() noexcept;

// Waits for all recorded streams and frees their memory. Returns false if there was none. Throws `device` if a wait
// fails.
bool wait_for_pending_results();

// Memory that waits for recorded streams, on all devices.
[[nodiscard]] std::uint64_t pending_result_bytes();

}  // namespace terrazzo::gpu
