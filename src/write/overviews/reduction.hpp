// SPDX-License-Identifier: Apache-2.0
//
// The names of tile/reduce/reduction.hpp for the writer, and the sizes of overviews.
#pragma once

#include "terrazzo/read.hpp"
#include "tile/reduce/reduction.hpp"

#include <cstdint>

namespace terrazzo::writing {

using tile::ConstDeviceRows;
using tile::ConstHostRows;
using tile::ConstRows;
using tile::DeviceRows;
using tile::HostRows;
using tile::Reduction;
using tile::ReductionSpec;
using tile::RowRange;
using tile::Rows;
using tile::rows_between;

// The size of an overview that is `factor` times smaller, rounded up as in GDAL.
[[nodiscard]] inline std::uint32_t overview_size(std::uint32_t size, std::uint32_t factor) noexcept {
  return size / factor + (size % factor != 0 ? 1 : 0);
}

}  // namespace terrazzo::writing
