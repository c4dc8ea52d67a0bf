// SPDX-License-Identifier: Apache-2.0
//
// The promise of a COG, taken back in the file: KNOWN_INCOMPATIBLE_EDITION=YES, as GDAL does when it changes one.
#pragma once

#include "tiff/directory.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace terrazzo::writing {

struct GhostEdit {
  std::uint64_t offset_bytes = 0;
  std::vector<std::byte> bytes{};
};

// What to write where; nothing when the file of `directory` promises nothing, or no longer does.
[[nodiscard]] std::optional<GhostEdit> break_ghost(tiff::Directory const& directory);

}  // namespace terrazzo::writing
