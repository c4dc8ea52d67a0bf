// SPDX-License-Identifier: Apache-2.0
//
// The machine as the library's defaults see it (docs/settings.md): cores of the affinity mask, memory within the
// cgroup's and the address space's limits.
#pragma once

#include <cstdint>

namespace terrazzo::cli {

[[nodiscard]] unsigned machine_cores() noexcept;
[[nodiscard]] std::uint64_t machine_memory_bytes();

}  // namespace terrazzo::cli
