// SPDX-License-Identifier: Apache-2.0
//
// Rules about the text of the ghost area (tiff/ghost_area.hpp). Other rules compare it with the
// file.
#pragma once

#include "ops/validate/rules.hpp"
#include "tiff/ghost_area.hpp"

namespace terrazzo::ops {

// Reads the area and checks its text. A file without one declares nothing, and its area ends with the header.
[[nodiscard]] tiff::GhostArea judge_ghost_area(tiff::MetadataReader const& reader, tiff::Header const& header,
                                               Findings& findings);

}  // namespace terrazzo::ops
