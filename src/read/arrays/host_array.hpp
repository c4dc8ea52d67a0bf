// SPDX-License-Identifier: Apache-2.0
//
// The size of a HostArray before its allocation.
#pragma once

#include "terrazzo/dtype.hpp"

#include <cstdint>

namespace terrazzo::reading {

// Throws `limit` if the size exceeds the address space.
[[nodiscard]] std::uint64_t array_bytes(DType dtype, std::uint32_t bands, std::uint32_t height, std::uint32_t width);

}  // namespace terrazzo::reading
