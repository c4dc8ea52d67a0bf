// SPDX-License-Identifier: Apache-2.0
#include "gpu/runtime/device_budget.hpp"

#include "base/settings.hpp"
#include "gpu/runtime/check.hpp"
#include "gpu/runtime/device_memory.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <atomic>

namespace terrazzo::gpu {

namespace {

// All tiles of a 1 GiB zstd read in flight take 4.9 GB, most of it nvCOMP's scratch; half of them take twice as long.
constexpr std::uint64_t kMaxDefaultBudgetBytes = std::uint64_t{8} << 30;

// Queried once per device: memory that reads and writes keep for later would count as used, and the query is slow. 0:
// not queried yet.
std::atomic<std::uint64_t>& budget_at_first_use(int device) {
  static std::array<std::atomic<std::uint64_t>, kMaxDevices> known{};
  return known[std::min(static_cast<std::size_t>(device), kMaxDevices - 1)];
}

}  // namespace

std::uint64_t default_device_budget(int device, std::uint64_t free_bytes) {
  std::uint64_t known = 0;
  std::uint64_t const at_first = std::clamp<std::uint64_t>(free_bytes / 4, 1, kMaxDefaultBudgetBytes);
  return budget_at_first_use(device).compare_exchange_strong(known, at_first) ? at_first : known;
}

std::uint64_t resolve_device_budget(std::uint64_t requested) {
  if (requested == 0) { requested = settings().device_budget_bytes; }
  if (requested != 0) { return requested; }
  int device = 0;
  check_cuda(cudaGetDevice(&device), "asking for the current device");
  if (std::uint64_t const known = budget_at_first_use(device); known != 0) { return known; }
  std::size_t free_bytes = 0, total_bytes = 0;
  check_cuda(cudaMemGetInfo(&free_bytes, &total_bytes), "asking for free device memory");
  return default_device_budget(device, free_bytes);
}

}  // namespace terrazzo::gpu
