// SPDX-License-Identifier: Apache-2.0
//
// A Writer that takes the rows of a raster and stores only its overviews: in a separate file (.ovr), or as directories
// and tiles appended to an existing file. write/writer.cpp implements it.
#pragma once

#include "terrazzo/sink.hpp"
#include "terrazzo/write.hpp"
#include "write/plan/file_plan.hpp"

#include <cstdint>
#include <memory>

namespace terrazzo::writing {

// `plan` comes from plan_overviews(). The sink is open. `start_bytes`: 0 for a separate file; otherwise the offset of
// the first overview directory, a multiple of 8. The last directory has no successor, and the caller links the first
// one.
[[nodiscard]] Writer create_overviews(std::shared_ptr<ByteSink> sink, FilePlan plan, std::uint64_t start_bytes);

}  // namespace terrazzo::writing
