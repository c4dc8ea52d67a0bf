// SPDX-License-Identifier: Apache-2.0
//
// Copies from the device to pinned memory, counted: that a batch comes back in one of them, and that pixels do not come
// back at all, is what tests look at.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace terrazzo::gpu {

// In the order of `stream`. `to` is pinned.
void copy_back(void* to, void const* from, std::size_t bytes, cudaStream_t stream, char const* doing);

struct CopyCounts {
  std::uint64_t copies = 0, bytes = 0;
};
// Of this process until now.
[[nodiscard]] CopyCounts copies_back() noexcept;

}  // namespace terrazzo::gpu
