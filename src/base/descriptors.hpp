// SPDX-License-Identifier: Apache-2.0
//
// The process's limit of open files.
#pragma once

#include <cstdint>

namespace terrazzo {

// How many more files this process may open now. 2^20 at most; also if there is no limit.
[[nodiscard]] std::uint64_t free_descriptors();

}  // namespace terrazzo
