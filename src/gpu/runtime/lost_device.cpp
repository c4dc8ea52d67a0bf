// SPDX-License-Identifier: Apache-2.0
#include "gpu/runtime/lost_device.hpp"

#include <atomic>
#include <mutex>
#include <utility>

namespace terrazzo::gpu {

namespace {

std::atomic<bool> is_lost{false};

struct Reason {
  std::mutex mutex;
  std::string text;
};

Reason& reason_of_loss() {
  static auto* const reason = new Reason;  // never destroyed: threads that wait for the GPU may outlive main()
  return *reason;
}

}  // namespace

void lose_device(std::string reason) {
  Reason& known = reason_of_loss();
  std::lock_guard const lock(known.mutex);
  if (is_lost.load(std::memory_order_relaxed)) { return; }
  known.text = std::move(reason);
  is_lost.store(true, std::memory_order_release);
}

bool device_is_lost() noexcept { return is_lost.load(std::memory_order_acquire); }

std::string why_device_is_lost() {
  Reason& known = reason_of_loss();
  std::lock_guard const lock(known.mutex);
  return known.text;
}

}  // namespace terrazzo::gpu
