// SPDX-License-Identifier: Apache-2.0
//
// Chooses the engine for a new file. Needs no GPU.
#pragma once

#include "write/overviews/reduction.hpp"
#include "write/plan/file_plan.hpp"

namespace terrazzo::writing {

// Host or device: the host for a mask with shades, otherwise the choice of the options or TERRAZZO_ENGINE, otherwise
// the memory of the file's first rows.
[[nodiscard]] Engine choose_engine(FilePlan const& plan, MemoryKind rows_lie_in);

// Throws if the options (or TERRAZZO_ENGINE) select the device and it is not available: `unsupported` for a build
// without CUDA, `device` for a machine without a GPU. `usage` for a number that no GPU of the machine has.
void check_engine(FilePlan const& plan);

}  // namespace terrazzo::writing
