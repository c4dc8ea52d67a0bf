// SPDX-License-Identifier: Apache-2.0
//
// The memory of a Reduction, for those who make one for a raster of any size.
#pragma once

#include "tile/reduction_spec.hpp"

#include <cstdint>

namespace terrazzo::tile {

// Bytes of its tables: they have entries for every column and row of the result.
[[nodiscard]] std::uint64_t table_bytes(ReductionSpec const& spec) noexcept;

}  // namespace terrazzo::tile
