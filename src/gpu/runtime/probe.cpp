// SPDX-License-Identifier: Apache-2.0
#include "gpu/runtime/probe.hpp"

#include "base/settings.hpp"
#include "base/text.hpp"
#include "gpu/runtime/check.hpp"
#include "gpu/runtime/device_context.hpp"
#include "gpu/runtime/lost_device.hpp"

#include <cuda_runtime_api.h>

namespace terrazzo::gpu {

DeviceState probe_device() {
  DeviceState state;
  state.built = true;
  (void)cudaRuntimeGetVersion(&state.runtime_version);
  (void)cudaDriverGetVersion(&state.driver_version);  // 0 without a driver
  if (is_disabled("gpu")) {
    state.reason = "switched off by TERRAZZO_DISABLE=gpu";
    return state;
  }
  if (device_is_lost()) {  // a query would block
    state.reason = why_device_is_lost();
    return state;
  }
  int count = 0;
  if (cudaError_t const result = cudaGetDeviceCount(&count); result != cudaSuccess || count == 0) {
    (void)cudaGetLastError();
    state.reason = state.driver_version == 0 ? "no NVIDIA driver is installed"
                   : result == cudaSuccess   ? "the driver sees no GPU"
                                             : cudaGetErrorString(result);
    return state;
  }
  cudaDeviceProp properties{};
  std::size_t free_bytes = 0, total_bytes = 0;
  cudaError_t result = cudaGetDevice(&state.device);
  if (result == cudaSuccess) { result = cudaGetDeviceProperties(&properties, state.device); }
  if (result == cudaSuccess) { result = cudaMemGetInfo(&free_bytes, &total_bytes); }
  if (result != cudaSuccess) {
    (void)cudaGetLastError();
    state.reason = cudaGetErrorString(result);
    return state;
  }
  state.name = properties.name;
  state.compute_major = properties.major;
  state.compute_minor = properties.minor;
  state.multiprocessors = properties.multiProcessorCount;
  state.free_bytes = free_bytes;
  state.total_bytes = total_bytes;
  std::uint64_t const set = settings().device_budget_bytes;
  state.default_budget_bytes = set != 0 ? set : device_context(state.device).default_budget_bytes(free_bytes);
  state.usable = true;
  return state;
}

void require_device() {
  int device = 0;
  if (!device_is_lost() && !is_disabled("gpu") && cudaGetDevice(&device) == cudaSuccess) { return; }
  DeviceState const state = probe_device();
  if (!state.usable) { throw Error(ErrorKind::device, text("no GPU can be used: ", state.reason)); }
}

}  // namespace terrazzo::gpu
