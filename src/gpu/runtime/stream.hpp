// SPDX-License-Identifier: Apache-2.0
//
// Owned streams and events. The library runs all its work on such streams, never on the default stream.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <type_traits>

namespace terrazzo::gpu {

struct DestroyStream {
  void operator()(cudaStream_t stream) const noexcept { (void)cudaStreamDestroy(stream); }
};
struct DestroyEvent {
  void operator()(cudaEvent_t event) const noexcept { (void)cudaEventDestroy(event); }
};

using StreamHandle = std::unique_ptr<std::remove_pointer_t<cudaStream_t>, DestroyStream>;
using EventHandle = std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, DestroyEvent>;

[[nodiscard]] StreamHandle make_stream();  // does not wait for the default stream
[[nodiscard]] EventHandle make_event();  // untimed; the driver chooses whether a wait sleeps or spins

// Makes `waiter` wait for all work that is now queued on `stream`.
void wait_for(cudaStream_t waiter, cudaStream_t stream, cudaEvent_t event);

}  // namespace terrazzo::gpu
