// SPDX-License-Identifier: Apache-2.0
#include "gpu/runtime/current_device.hpp"

#include "base/settings.hpp"
#include "base/text.hpp"
#include "gpu/runtime/lost_device.hpp"
#include "terrazzo/error.hpp"

namespace terrazzo::gpu {

std::shared_ptr<void const> choose_device(std::optional<int> device) {
  int count = 0;
  if (!device || device_is_lost() || is_disabled("gpu")) { return nullptr; }
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
    (void)cudaGetLastError();
    return nullptr;
  }
  if (*device < 0 || *device >= count) {
    throw Error(ErrorKind::usage, text("there is no GPU ", *device, ": the machine has ", count));
  }
  return std::make_shared<CurrentDevice const>(*device);
}

}  // namespace terrazzo::gpu
