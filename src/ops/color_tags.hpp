// SPDX-License-Identifier: Apache-2.0
//
// What a file says of its colours beyond which band is which: an ICC profile or, without one, the older tags for white,
// primaries and transfer function. GDAL's copies carry these too. They describe samples as they are stored, so they go
// along only with all bands, in their order and type.
#pragma once

#include "terrazzo/read.hpp"
#include "terrazzo/write.hpp"

#include <vector>

namespace terrazzo::ops {

// Those of `source` that are still true of what `planned` gives; little-endian, whatever the source is.
[[nodiscard]] std::vector<ExtraTag> color_tags(Dataset const& source, ReadPlan const& planned);

}  // namespace terrazzo::ops
