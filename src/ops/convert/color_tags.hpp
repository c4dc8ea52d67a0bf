// SPDX-License-Identifier: Apache-2.0
//
// Tags that define the colours of an image: an ICC profile or, without one, the older tags for white,
// primaries and transfer function. GDAL's copies carry these too. They describe samples as they are stored, so they are
// copied only with all bands, in their order and type.
#pragma once

#include "terrazzo/read.hpp"
#include "terrazzo/write.hpp"

#include <vector>

namespace terrazzo::ops {

// The tags of `source` that still apply to the result of `planned`; little-endian for any source.
[[nodiscard]] std::vector<ExtraTag> color_tags(Dataset const& source, ReadPlan const& planned);

}  // namespace terrazzo::ops
