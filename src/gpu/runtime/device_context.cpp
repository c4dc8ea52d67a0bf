// SPDX-License-Identifier: Apache-2.0
#include "gpu/runtime/device_context.hpp"

#include "base/settings.hpp"
#include "base/text.hpp"
#include "gpu/runtime/check.hpp"
#include "gpu/runtime/current_device.hpp"
#include "gpu/runtime/lost_device.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fstream>
#include <string>
#include <vector>

namespace terrazzo::gpu {

namespace {

// All tiles of a 1 GiB zstd read in flight take 4.9 GB, most of it nvCOMP's scratch; half of them take twice as long.
constexpr std::uint64_t kMaxDefaultBudgetBytes = std::uint64_t{8} << 30;

// A number in a file of the GPU's folder below /sys; 0 if it cannot be read.
double number_in_pci_folder(std::string const& folder, char const* name) {
  std::ifstream file(text("/sys/bus/pci/devices/", folder, "/", name));
  std::string line;
  return std::getline(file, line) ? leading_number(line) : 0;
}

// CUDA has no attribute for the link. An idle GPU lowers its transfer rate, so the highest rate counts.
void find_link(int device, DeviceProperties& properties) {
  char name[32]{};
  if (cudaDeviceGetPCIBusId(name, sizeof name, device) != cudaSuccess) { return; }
  std::string folder(name);
  std::ranges::transform(folder, folder.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  properties.link_gigatransfers = number_in_pci_folder(folder, "max_link_speed");
  properties.link_lanes = static_cast<int>(number_in_pci_folder(folder, "current_link_width"));
}

// Properties that cannot be queried stay unknown.
DeviceProperties properties_of(int device) {
  DeviceProperties properties;
  (void)cudaDeviceGetAttribute(&properties.multiprocessors, cudaDevAttrMultiProcessorCount, device);
  (void)cudaDeviceGetAttribute(&properties.clock_khz, cudaDevAttrClockRate, device);
  find_link(device, properties);
  (void)cudaGetLastError();
  return properties;
}

struct Contexts {
  std::mutex mutex;
  std::map<int, std::unique_ptr<DeviceContext>> by_device;
};

Contexts& contexts() {
  static auto* const all = new Contexts;
  return *all;
}

}  // namespace

double leading_number(std::string_view text) noexcept {
  double value = 0;
  return std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc{} ? value : 0;
}

std::shared_ptr<DevicePool> DeviceContext::pool() {
  std::lock_guard const lock(mutex_);
  if (pool_ == nullptr) { pool_ = std::make_shared<DevicePool>(device_); }
  return pool_;
}

void DeviceContext::trim_pool() {
  std::lock_guard const lock(mutex_);
  if (pool_ != nullptr) { pool_->trim(); }
}

std::uint64_t DeviceContext::budget_bytes(std::uint64_t requested) {
  if (requested == 0) { requested = settings().device_budget_bytes; }
  if (requested != 0) { return requested; }
  // Queried once: memory that reads and writes keep for later would count as used, and the query is slow.
  if (std::uint64_t const known = default_budget_bytes_; known != 0) { return known; }
  CurrentDevice const here(device_);
  std::size_t free_bytes = 0, total_bytes = 0;
  check_cuda(cudaMemGetInfo(&free_bytes, &total_bytes), "asking for free device memory");
  return default_budget_bytes(free_bytes);
}

std::uint64_t DeviceContext::default_budget_bytes(std::uint64_t free_bytes) noexcept {
  std::uint64_t known = 0;
  std::uint64_t const at_first = std::clamp<std::uint64_t>(free_bytes / 4, 1, kMaxDefaultBudgetBytes);
  return default_budget_bytes_.compare_exchange_strong(known, at_first) ? at_first : known;
}

DeviceSpeed DeviceContext::speed() {
  std::lock_guard const lock(mutex_);
  if (!speed_) { speed_ = speed_of(properties_of(device_)); }
  return *speed_;
}

DeviceContext& device_context(int device) {
  std::lock_guard const lock(contexts().mutex);
  std::unique_ptr<DeviceContext>& context = contexts().by_device[device];
  if (context == nullptr) { context = std::make_unique<DeviceContext>(device); }
  return *context;
}

DeviceContext& current_context() { return device_context(current_device()); }

DeviceContext* find_current_context() {
  int device = 0;
  if (device_is_lost() || is_disabled("gpu")) { return nullptr; }
  if (cudaGetDevice(&device) == cudaSuccess) { return &device_context(device); }
  (void)cudaGetLastError();
  return nullptr;
}

void for_each_context(std::function<void(DeviceContext&)> const& action) {
  std::vector<DeviceContext*> all;
  {
    std::lock_guard const lock(contexts().mutex);
    for (auto const& [device, context] : contexts().by_device) { all.push_back(context.get()); }
  }
  for (DeviceContext* const context : all) {
    CurrentDevice const here(context->device());
    action(*context);
  }
}

std::shared_ptr<DeviceAllocator> pool_allocator() { return current_context().pool(); }

}  // namespace terrazzo::gpu
