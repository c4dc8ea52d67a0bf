// SPDX-License-Identifier: Apache-2.0
//
// A device read for measurements: batch by batch, one stage at a time, so that each stage has its own time.
#pragma once

#include "read/device/stages.hpp"

namespace terrazzo::reading {

// Runs every batch and adds to parameters.profile. Blocks while another read is profiled.
void run_in_turn(DeviceParameters const& parameters, DeviceWork const& work, DeviceStages& stages);

}  // namespace terrazzo::reading
