// SPDX-License-Identifier: Apache-2.0
//
// Reports of reads that were made part by part.
#pragma once

#include "terrazzo/read.hpp"

namespace terrazzo::reading {

// Counts are added; bad tiles follow those of before, as often as parts met them.
void add_report(ReadReport& total, ReadReport part);

}  // namespace terrazzo::reading
