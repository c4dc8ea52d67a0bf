// SPDX-License-Identifier: Apache-2.0
#include "gpu/runtime/lost_device.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <utility>

namespace terrazzo::gpu {

namespace {

std::atomic<bool> is_lost{false};

struct Reason {
  std::mutex mutex;
  std::string text;
};

void leave_at_once(int status, void*) {
  std::cout.flush();
  std::clog.flush();
  std::fflush(nullptr);
  _exit(status);
}

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
  // Runs before the destructors of libraries that were loaded earlier: that of libnvcomp unloads its kernels and waits
  // for them.
  static_cast<void>(on_exit(&leave_at_once, nullptr));
}

bool device_is_lost() noexcept { return is_lost.load(std::memory_order_acquire); }

std::string why_device_is_lost() {
  Reason& known = reason_of_loss();
  std::lock_guard const lock(known.mutex);
  return known.text;
}

}  // namespace terrazzo::gpu
