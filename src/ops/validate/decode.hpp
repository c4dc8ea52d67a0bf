// SPDX-License-Identifier: Apache-2.0
//
// Decodes every tile of every level and of its mask, one block of rows after another, so that memory does not
// grow with the raster.
#pragma once

#include "ops/validate/rules.hpp"
#include "terrazzo/read.hpp"

namespace terrazzo::ops {

void check_pixels(Dataset const& dataset, ValidateOptions const& options, Progress const& progress, Findings& findings);

}  // namespace terrazzo::ops
