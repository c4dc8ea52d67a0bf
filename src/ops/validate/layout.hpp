// SPDX-License-Identifier: Apache-2.0
//
// Rules about images and directories: sizes, tiling, overviews, masks, and their order in the file.
#pragma once

#include "ops/validate/images.hpp"

namespace terrazzo::ops {

// REQUIRES: the pass over the tiles has filled first_tile_bytes and lowest_bytes of the images.
void check_layout(CheckedFile const& file, Dataset const& dataset, Findings& findings);

}  // namespace terrazzo::ops
