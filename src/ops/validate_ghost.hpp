// SPDX-License-Identifier: Apache-2.0
//
// Rules about the text of the ghost area (tiff/ghost_area.hpp). Whether the file keeps its promises is judged
// elsewhere.
#pragma once

#include "ops/validate_rules.hpp"
#include "tiff/ghost_area.hpp"

namespace terrazzo::ops {

// Reads the area and judges its text. Of a file without one: no promises, and its end is that of the header.
[[nodiscard]] tiff::GhostArea judge_ghost_area(tiff::MetadataReader const& reader, tiff::Header const& header,
                                               Findings& findings);

}  // namespace terrazzo::ops
