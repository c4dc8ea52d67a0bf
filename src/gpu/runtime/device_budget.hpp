// SPDX-License-Identifier: Apache-2.0
//
// The budget of device memory of a read or write. Thread-safe.
#pragma once

#include <cstdint>

namespace terrazzo::gpu {

// Scratch that a read or write may use if it requested `requested` (0: the process's default, TERRAZZO_DEVICE_BUDGET,
// or a quarter of the memory that the current device had free at first use, at most 8 GiB). It does not check the
// memory that is free now: see scratch_room().
[[nodiscard]] std::uint64_t resolve_device_budget(std::uint64_t requested);

// The default for a device that had `free_bytes` free at first use; later values are ignored.
[[nodiscard]] std::uint64_t default_device_budget(int device, std::uint64_t free_bytes);

}  // namespace terrazzo::gpu
