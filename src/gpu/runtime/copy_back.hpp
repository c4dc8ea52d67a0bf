// SPDX-License-Identifier: Apache-2.0
//
// Copies from the device to pinned memory, counted. Tests check that a batch is downloaded in one copy, and that pixels
// are not downloaded at all.
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
// Counts of this process.
[[nodiscard]] CopyCounts copies_back() noexcept;

}  // namespace terrazzo::gpu
