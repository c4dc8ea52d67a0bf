// SPDX-License-Identifier: Apache-2.0
#include "gpu/runtime/check.hpp"

#include "base/text.hpp"
#include "gpu/runtime/lost_device.hpp"
#include "terrazzo/error.hpp"

namespace terrazzo::gpu {

void check_cuda(cudaError_t result, char const* doing) {
  if (device_is_lost()) {
    throw Error(ErrorKind::device, text("the GPU cannot be used any more: ", why_device_is_lost()));
  }
  if (result == cudaSuccess) { return; }
  (void)cudaGetLastError();
  throw Error(ErrorKind::device, text(doing, ": ", cudaGetErrorName(result), " (", cudaGetErrorString(result), ")"));
}

void check_launch(char const* doing) { check_cuda(cudaGetLastError(), doing); }

}  // namespace terrazzo::gpu
