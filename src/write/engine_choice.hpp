// SPDX-License-Identifier: Apache-2.0
//
// Who works on a file that is being written. Needs no GPU.
#pragma once

#include "write/file_plan.hpp"
#include "write/reduce.hpp"

namespace terrazzo::writing {

// host or device, for a file whose first rows lie there: what the options or TERRAZZO_ENGINE say, else where they lie.
[[nodiscard]] Engine choose_engine(FilePlan const& plan, Memory rows_lie_in);

// Throws when the options (or TERRAZZO_ENGINE) want the device and there is none to be had: `unsupported` for a build
// without CUDA, `device` for a machine without a GPU.
void check_engine(FilePlan const& plan);

}  // namespace terrazzo::writing
