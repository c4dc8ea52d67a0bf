// SPDX-License-Identifier: Apache-2.0
//
// Can every tile of every level, and of its mask, be decoded? Block of rows by block of rows, so that memory does not
// grow with the raster.
#pragma once

#include "ops/validate_rules.hpp"
#include "terrazzo/read.hpp"

namespace terrazzo::ops {

void check_pixels(Dataset const& dataset, ValidateOptions const& options, Progress const& progress, Findings& findings);

}  // namespace terrazzo::ops
