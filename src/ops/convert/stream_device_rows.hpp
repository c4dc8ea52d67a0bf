// SPDX-License-Identifier: Apache-2.0
//
// Streams rows of a read into a Writer through device memory: decoded, reduced and compressed there. Pixels
// reach the host only where its threads decode a share of the tiles.
#pragma once

#include "terrazzo/read.hpp"
#include "terrazzo/write.hpp"

namespace terrazzo::ops {

// `planned` is the plan of `read` in all functions: a conversion makes it once, and then one plan for each piece.

// True if rows of `read` are available in device memory for a writer that works there. False, and host rows are
// uploaded instead, with a mask or a target size, which the host makes, and if the host decodes anyway.
[[nodiscard]] bool goes_by_device(ReadPlan const& planned, ReadRequest const& read, WriteOptions const& write);

// Divides the device memory that `write` may use (0: the process's default): half for reading, half for writing.
// Changes nothing if the request has a budget of its own, or if rows do not go through the device.
void share_device_budget(ReadPlan const& planned, ReadRequest& read, WriteOptions& write);

// Streams all rows, band by band, with the writer's threads, allocator and cancellation. `read` has its share of the
// budget.
ReadReport stream_device_rows(ReadPlan const& planned, ReadRequest read, WriteOptions const& write, Writer& writer);

// Chooses by goes_by_device(): stream_device_rows() or stream_rows().
ReadReport stream_either_way(Dataset const& source, ReadPlan const& planned, ReadRequest const& read,
                             WriteOptions const& write, Writer& writer);

}  // namespace terrazzo::ops
