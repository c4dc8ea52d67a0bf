// SPDX-License-Identifier: Apache-2.0
//
// A GPU that does not answer cannot be asked to stop: its kernels run until the process ends. The process then gives
// the GPU up, for good: every later device call of ours fails at once with the reason, and memory that the GPU may
// still use is abandoned, since freeing it would wait for the GPU (measured on an H200: cudaFree, cudaFreeHost and the
// destructors of libnvcomp block; stream-ordered frees and queries do not). So that the process can end, exit() then
// flushes the streams of C and C++ and leaves, without static destructors of objects that are older than the loss.
//
// Thread rule: everything here may be called from any thread.
#pragma once

#include <string>

namespace terrazzo::gpu {

// The first reason stays.
void lose_device(std::string reason);

[[nodiscard]] bool device_is_lost() noexcept;

// Empty while the device answers.
[[nodiscard]] std::string why_device_is_lost();

}  // namespace terrazzo::gpu
