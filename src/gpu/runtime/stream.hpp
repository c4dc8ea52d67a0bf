// SPDX-License-Identifier: Apache-2.0
//
// Streams and events that close themselves. Never the default stream: everything of ours runs on streams like these.
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
[[nodiscard]] EventHandle make_event();  // untimed; a wait for it sleeps or spins as the driver likes

// `waiter` goes on when all that is on `stream` now is done.
void wait_for(cudaStream_t waiter, cudaStream_t stream, cudaEvent_t event);

}  // namespace terrazzo::gpu
