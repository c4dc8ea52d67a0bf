// SPDX-License-Identifier: Apache-2.0
//
// Whether a file is a COG by the way it lies, with or without a ghost area that says so.
#pragma once

#include <string>

namespace terrazzo::ops {

struct CogLayout {
  bool valid = false;  // by the rules of validate(), with overviews where a raster needs them
  bool has_overviews = false;  // nobody lays a file out so by chance
};

// Of the file alone, without what lies beside it. Reads all lists of tiles. Throws `io`.
[[nodiscard]] CogLayout cog_layout(std::string const& path);

}  // namespace terrazzo::ops
