// SPDX-License-Identifier: Apache-2.0
//
// What a Dataset holds. Immutable after open().
#pragma once

#include "geo/crs.hpp"
#include "read/level.hpp"
#include "terrazzo/info.hpp"
#include "terrazzo/read.hpp"

#include <string>
#include <vector>

namespace terrazzo {

struct Dataset::Impl {
  Info info;
  std::vector<reading::LevelPtr> levels;  // 0: full resolution
  geo::CrsDefinition crs;              // what the file says of its CRS, for detailed_info()
  bool trusted = false;                // may libtiff's long tail see these bytes?
};

}  // namespace terrazzo
