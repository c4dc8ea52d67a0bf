// SPDX-License-Identifier: Apache-2.0
#include "gpu/runtime/probe.hpp"

#include "base/settings.hpp"
#include "base/text.hpp"
#include "gpu/runtime/check.hpp"
#include "gpu/runtime/device_memory.hpp"
#include "gpu/runtime/lost_device.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <atomic>

namespace terrazzo::gpu {

namespace {

// All tiles of a 1 GiB zstd read in flight take 4.9 GB, nvCOMP's scratch most of it; half of them take twice as long.
constexpr std::uint64_t kMaxDefaultBudgetBytes = std::uint64_t{8} << 30;

// Asked for once a device: what reads and writes keep for the next one would count as taken, and asking is slow. 0: not
// asked for.
std::atomic<std::uint64_t>& budget_at_first_use(int device) {
  static std::array<std::atomic<std::uint64_t>, kMaxDevices> known{};
  return known[std::min(static_cast<std::size_t>(device), kMaxDevices - 1)];
}

std::uint64_t default_budget(int device, std::uint64_t free_bytes) {
  std::uint64_t known = 0;
  std::uint64_t const at_first = std::clamp<std::uint64_t>(free_bytes / 4, 1, kMaxDefaultBudgetBytes);
  return budget_at_first_use(device).compare_exchange_strong(known, at_first) ? at_first : known;
}

}  // namespace

DeviceState probe_device() {
  DeviceState state;
  state.built = true;
  (void)cudaRuntimeGetVersion(&state.runtime_version);
  (void)cudaDriverGetVersion(&state.driver_version);  // 0 without a driver
  if (is_disabled("gpu")) {
    state.reason = "switched off by TERRAZZO_DISABLE=gpu";
    return state;
  }
  if (device_is_lost()) {  // asking it would block
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
  state.default_budget_bytes = set != 0 ? set : default_budget(state.device, free_bytes);
  state.usable = true;
  return state;
}

void require_device() {
  int device = 0;
  if (!device_is_lost() && !is_disabled("gpu") && cudaGetDevice(&device) == cudaSuccess) { return; }
  DeviceState const state = probe_device();
  if (!state.usable) { throw Error(ErrorKind::device, text("no GPU can be used: ", state.reason)); }
}

std::uint64_t resolve_device_budget(std::uint64_t requested) {
  if (requested == 0) { requested = settings().device_budget_bytes; }
  if (requested != 0) { return requested; }
  int device = 0;
  check_cuda(cudaGetDevice(&device), "asking for the current device");
  if (std::uint64_t const known = budget_at_first_use(device); known != 0) { return known; }
  std::size_t free_bytes = 0, total_bytes = 0;
  check_cuda(cudaMemGetInfo(&free_bytes, &total_bytes), "asking for free device memory");
  return default_budget(device, free_bytes);
}

}  // namespace terrazzo::gpu
