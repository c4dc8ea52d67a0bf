// SPDX-License-Identifier: Apache-2.0
//
// Notes for people about information that a new file will lose. GDAL writes such files too.
#pragma once

#include "write/plan/file_plan.hpp"

namespace terrazzo::writing {

// To a lossy codec, nodata and the zeros of alpha are ordinary values that may change. A mask is exact, and readers use
// only the mask if there is one. For a new file, the note says how to get one.
void note_blurred_validity(FilePlan const& plan);

}  // namespace terrazzo::writing
