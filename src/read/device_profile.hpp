// SPDX-License-Identifier: Apache-2.0
//
// A device read for the clock: batch by batch, every stage alone, so that each has a time of its own.
#pragma once

#include "read/device_stages.hpp"

namespace terrazzo::reading {

// Runs every batch and adds to task.profile. Blocks while another read is profiled.
void run_in_turn(DeviceTask const& task, DeviceWork const& work, DeviceStages& stages);

}  // namespace terrazzo::reading
