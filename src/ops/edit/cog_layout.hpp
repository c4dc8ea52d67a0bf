// SPDX-License-Identifier: Apache-2.0
//
// Detects COG layout, with or without a ghost area.
#pragma once

#include <string>

namespace terrazzo::ops {

struct CogLayout {
  bool valid = false;  // by the rules of validate(); warnings are ignored
  bool has_overviews = false;  // with overviews, the layout does not arise by chance
};

// Checks the file only, without sidecars. Reads all lists of tiles. Throws `io`.
[[nodiscard]] CogLayout cog_layout(std::string const& path);

}  // namespace terrazzo::ops
