// SPDX-License-Identifier: Apache-2.0
//
// read_pieces() for an existing plan. device_read.cpp implements both.
#pragma once

#include "read/plan/plan.hpp"
#include "terrazzo/device.hpp"

#include <cstdint>

namespace terrazzo::reading {

// Like the public read_pieces(). `plan` belongs to the request, which has no target size.
void read_plan_in_pieces(ReadPlan::Impl const& plan, ReadRequest const& request, std::uint64_t piece_bytes,
                         DevicePiece const& piece, StreamView stream, ReadReport* report);

}  // namespace terrazzo::reading
