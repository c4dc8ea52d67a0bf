// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace terrazzo::writing {

// Results per thread of a BlockEncoder that may wait for an earlier one: enough that a slow tile does not stall the
// other threads.
inline constexpr std::size_t kSlotsPerThread = 3;

}  // namespace terrazzo::writing
