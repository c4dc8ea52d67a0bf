// SPDX-License-Identifier: Apache-2.0
//
// Reads tiles into device memory, decodes and places them there: disk, PCIe and the GPU's processors at once.
//
// The work is cut into batches. Threads take pieces of batches in order, read them into pinned chunks and send them to
// the batch's slot; whoever brings the last piece starts decoding and placing on the slot's stream. A slot is taken
// again when its batch is done. Nothing waits for the device but the taking of a slot and of a pinned chunk.
#pragma once

#include "read/device_task.hpp"

#include <vector>

namespace terrazzo::reading {

// Tiles the device could not decode, to be read by the host; in file order.
[[nodiscard]] std::vector<WorkTile> run_pipeline(DeviceTask const& task, DeviceWork& work, ReadReport& report);

}  // namespace terrazzo::reading
