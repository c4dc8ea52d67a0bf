// SPDX-License-Identifier: Apache-2.0
//
// Everything that the library knows about one GPU and keeps for it: the pool of memory, the default budget, the speed,
// and objects of the layers above (slots of reads). The entry of a read or write takes the context of its GPU and hands
// it down. Two contexts share nothing, even for one GPU.
//
// A context does nothing on the GPU until it is asked, so it can be made without one. Pinned memory is memory of the
// host that every GPU may use: it belongs to the process (pinned_pool.hpp).
//
// Thread rule: any thread may call any member.
#pragma once

#include "gpu/runtime/device_pool.hpp"
#include "gpu/runtime/device_speed.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <typeindex>
#include <typeinfo>

namespace terrazzo::gpu {

class DeviceContext {
 public:
  explicit DeviceContext(int device) noexcept : device_(device) {}
  DeviceContext(DeviceContext const&) = delete;
  DeviceContext& operator=(DeviceContext const&) = delete;

  [[nodiscard]] int device() const noexcept { return device_; }

  // Made at the first call.
  [[nodiscard]] std::shared_ptr<DevicePool> pool();

  // Returns unused memory of the pool to the driver, if there is a pool.
  void trim_pool();

  // Scratch that a read or write may use if it requested `requested` (0: the process's default, TERRAZZO_DEVICE_BUDGET,
  // or a quarter of the memory that the GPU had free at first use, at most 8 GiB). It does not check the memory that is
  // free now: see scratch_room().
  [[nodiscard]] std::uint64_t budget_bytes(std::uint64_t requested);

  // The default for a GPU that had `free_bytes` free at first use; later values are ignored.
  [[nodiscard]] std::uint64_t default_budget_bytes(std::uint64_t free_bytes) noexcept;

  // From properties that are queried once; unknown properties count as an H200's.
  [[nodiscard]] DeviceSpeed speed();

  // The object of type T that a layer above keeps for this GPU, made from the context at the first call. REQUIRES: T's
  // constructor does not call part().
  template <class T>
  [[nodiscard]] T& part() {
    std::lock_guard const lock(parts_mutex_);
    std::shared_ptr<void>& kept = parts_[typeid(T)];
    if (kept == nullptr) { kept = std::make_shared<T>(*this); }
    return *static_cast<T*>(kept.get());
  }

 private:
  int const device_;
  std::mutex mutex_;  // guards pool_ and speed_
  std::shared_ptr<DevicePool> pool_;
  std::optional<DeviceSpeed> speed_;
  std::atomic<std::uint64_t> default_budget_bytes_{0};  // 0: no use yet
  std::mutex parts_mutex_;
  std::map<std::type_index, std::shared_ptr<void>> parts_;
};

// The process's context of a GPU: made at the first call, never destroyed, since the driver may unload first at exit.
[[nodiscard]] DeviceContext& device_context(int device);

// The context of the calling thread's current device. Throws `device` without a GPU.
[[nodiscard]] DeviceContext& current_context();

// As current_context(), or null without a usable GPU.
[[nodiscard]] DeviceContext* find_current_context();

// Calls `action` for every context of the process, with its device current.
void for_each_context(std::function<void(DeviceContext&)> const& action);

// current_context().pool()
[[nodiscard]] std::shared_ptr<DeviceAllocator> pool_allocator();

}  // namespace terrazzo::gpu
