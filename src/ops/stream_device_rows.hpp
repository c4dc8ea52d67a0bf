// SPDX-License-Identifier: Apache-2.0
//
// Rows of a read into a Writer by way of device memory: decoded there, reduced and compressed there. No pixel touches
// the host.
#pragma once

#include "terrazzo/read.hpp"
#include "terrazzo/write.hpp"

namespace terrazzo::ops {

// Whether rows of `read` are to be had in device memory for a writer that works there. Not so, and host rows are
// uploaded instead: with a mask or a target size, which the host makes, and where the host decodes anyway.
[[nodiscard]] bool goes_by_device(Dataset const& source, ReadRequest const& read, WriteOptions const& write);

// What `write` may take of the device's memory (0: the process's default) is for both sides: half for reading, half for
// writing. Nothing changes when the request has a budget of its own, or when rows do not go by the device.
void share_device_budget(Dataset const& source, ReadRequest& read, WriteOptions& write);

// All rows, band by band, with the writer's threads, allocator and cancellation. `read` has what is its share.
ReadReport stream_device_rows(Dataset const& source, ReadRequest read, WriteOptions const& write, Writer& writer);

// By the way that goes_by_device() says: this one, or stream_rows().
ReadReport stream_either_way(Dataset const& source, ReadRequest const& read, WriteOptions const& write, Writer& writer);

}  // namespace terrazzo::ops
