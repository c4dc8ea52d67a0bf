// SPDX-License-Identifier: Apache-2.0
//
// The current device of the calling thread, for a scope.
#pragma once

#include "gpu/runtime/check.hpp"

#include <cuda_runtime_api.h>

namespace terrazzo::gpu {

// Makes a device current in this thread and restores the caller's device at the end: streams, events and memory belong
// to one device, and the caller may have chosen another since they were made.
class CurrentDevice {
 public:
  explicit CurrentDevice(int device) {
    check_cuda(cudaGetDevice(&before_), "asking for the current device");
    if (before_ != device) { check_cuda(cudaSetDevice(device), "choosing the device"); }
    changed_ = before_ != device;
  }
  ~CurrentDevice() {
    if (changed_) { (void)cudaSetDevice(before_); }
  }
  CurrentDevice(CurrentDevice const&) = delete;
  CurrentDevice& operator=(CurrentDevice const&) = delete;

 private:
  int before_ = 0;
  bool changed_ = false;
};

}  // namespace terrazzo::gpu
