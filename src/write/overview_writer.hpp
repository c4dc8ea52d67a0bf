// SPDX-License-Identifier: Apache-2.0
//
// A Writer that takes the rows of a raster and stores only its overviews: in a file of their own (.ovr), or as
// directories and tiles behind what a file holds already.
#pragma once

#include "base/byte_sink.hpp"
#include "terrazzo/write.hpp"
#include "write/file_plan.hpp"

#include <cstdint>
#include <memory>

namespace terrazzo::writing {

// `plan` is of plan_overviews(). The sink is open. `start_bytes`: 0 for a file of their own, else where the first of
// their directories is to lie, a multiple of 8; the last directory has no successor, and nothing leads to the first
// yet.
[[nodiscard]] Writer create_overviews(std::shared_ptr<ByteSink> sink, FilePlan plan, std::uint64_t start_bytes);

}  // namespace terrazzo::writing
