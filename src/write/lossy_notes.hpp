// SPDX-License-Identifier: Apache-2.0
//
// Notes for people about what a file that is about to be written will lose. GDAL writes such files too.
#pragma once

#include "write/file_plan.hpp"

namespace terrazzo::writing {

// Nodata and the zeros of alpha are values among others to a codec that may change values. A mask is exact, and readers
// ask nothing else where there is one: where the file is made anew, the note says how to have one.
void note_blurred_validity(FilePlan const& plan);

}  // namespace terrazzo::writing
