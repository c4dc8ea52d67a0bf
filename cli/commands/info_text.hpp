// SPDX-License-Identifier: Apache-2.0
//
// The description of a raster for people: a dozen lines.
#pragma once

#include "terrazzo/info.hpp"

#include <iosfwd>
#include <string>

namespace terrazzo::cli {

void print_info(std::ostream& out, std::string const& file, Info const& info);

// Every metadata item of the raster and its bands.
void print_metadata(std::ostream& out, Info const& info);

}  // namespace terrazzo::cli
