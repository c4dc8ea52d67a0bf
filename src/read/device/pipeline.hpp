// SPDX-License-Identifier: Apache-2.0
//
// Reads tiles into device memory, decodes and places them there, with disk, PCIe and GPU working at the same time.
//
// The work is divided into batches. Threads take pieces of batches in order, read them into pinned chunks and send them
// to the batch's slot. The thread that sends the last piece starts decoding and placing on the slot's stream. A slot is
// reused when its batch is done. Threads wait for the device only when they take a slot or a pinned chunk.
#pragma once

#include "read/device/parameters.hpp"

#include <vector>

namespace terrazzo::reading {

// Returns the tiles that the device could not decode, in file order; the host reads them.
[[nodiscard]] std::vector<WorkTile> run_pipeline(DeviceParameters const& parameters, DeviceWork& work,
                                                 ReadReport& report);

}  // namespace terrazzo::reading
