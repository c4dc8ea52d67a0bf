// SPDX-License-Identifier: Apache-2.0
//
// A hung GPU cannot be stopped: its kernels run until the process ends. The process then gives up the GPU permanently:
// every later device call of the library fails at once with the reason, and memory that the GPU may still use is
// abandoned, since freeing it would wait for the GPU (measured on an H200: cudaFree, cudaFreeHost and the destructors
// of libnvcomp block; stream-ordered frees and queries do not). To let the process end, exit() then flushes the streams
// of C and C++ and ends the process, without static destructors of objects that are older than the loss.
//
// Thread rule: everything here may be called from any thread.
#pragma once

#include <string>

namespace terrazzo::gpu {

// Keeps the first reason.
void lose_device(std::string reason);

[[nodiscard]] bool device_is_lost() noexcept;

// Empty unless the device is lost.
[[nodiscard]] std::string why_device_is_lost();

}  // namespace terrazzo::gpu
