// SPDX-License-Identifier: Apache-2.0
#include "gpu/runtime/stream.hpp"

#include "gpu/runtime/check.hpp"

namespace terrazzo::gpu {

StreamHandle make_stream() {
  cudaStream_t stream = nullptr;
  check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
  return StreamHandle(stream);
}

EventHandle make_event() {
  cudaEvent_t event = nullptr;
  check_cuda(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "making an event");
  return EventHandle(event);
}

void wait_for(cudaStream_t waiter, cudaStream_t stream, cudaEvent_t event) {
  check_cuda(cudaEventRecord(event, stream), "recording an event");
  check_cuda(cudaStreamWaitEvent(waiter, event), "waiting for an event");
}

}  // namespace terrazzo::gpu
