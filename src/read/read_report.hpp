// SPDX-License-Identifier: Apache-2.0
//
// Reports of reads that consist of several parts.
#pragma once

#include "terrazzo/read.hpp"

#include <vector>

namespace terrazzo::reading {

// Adds the counts and appends the bad tiles; a tile that several parts report is listed several times.
void add_report(ReadReport& total, ReadReport part);

// Keeps the first of equal reports: parts that share a tile report it once each.
void drop_repeats(std::vector<BadTileReport>& bad_tiles);

}  // namespace terrazzo::reading
