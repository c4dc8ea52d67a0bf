// SPDX-License-Identifier: Apache-2.0
//
// The current device of the calling thread.
#pragma once

#include "gpu/runtime/check.hpp"

#include <cuda_runtime_api.h>

#include <memory>
#include <optional>

namespace terrazzo::gpu {

[[nodiscard]] inline int current_device() {
  int device = 0;
  check_cuda(cudaGetDevice(&device), "asking for the current device");
  return device;
}

// Makes a device current in this thread and restores the caller's device at the end: streams, events and memory belong
// to one device, and the caller may have chosen another since they were made.
class CurrentDevice {
 public:
  explicit CurrentDevice(int device) : before_(current_device()), changed_(before_ != device) {
    if (changed_) { check_cuda(cudaSetDevice(device), "choosing the device"); }
  }
  ~CurrentDevice() {
    if (changed_) { (void)cudaSetDevice(before_); }
  }
  CurrentDevice(CurrentDevice const&) = delete;
  CurrentDevice& operator=(CurrentDevice const&) = delete;

 private:
  int before_;
  bool changed_;
};

// Makes this device current in the calling thread until the result is destroyed; nullopt leaves the current one. Throws
// `usage` if the machine has GPUs, but not this one. Does nothing without a usable GPU: the work that follows reports
// it.
[[nodiscard]] std::shared_ptr<void const> choose_device(std::optional<int> device);

}  // namespace terrazzo::gpu
