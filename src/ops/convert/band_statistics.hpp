// SPDX-License-Identifier: Apache-2.0
//
// Statistics describe all pixels of a raster; a file with other pixels has none of them.
#pragma once

#include "terrazzo/info.hpp"

#include <vector>

namespace terrazzo::ops {

inline void drop_statistics(BandInfo& band) {
  band.statistics = {};
  for (auto& [domain, items] : band.metadata.domains) {
    std::erase_if(items, [](auto const& item) { return item.first.starts_with("STATISTICS_"); });
  }
}

}  // namespace terrazzo::ops
