// SPDX-License-Identifier: Apache-2.0
//
// The description of a raster as JSON. The keys are stable (docs/cli.md).
#pragma once

#include "output/json_output.hpp"

#include "terrazzo/info.hpp"

#include <string>

namespace terrazzo::cli {

[[nodiscard]] Json info_to_json(std::string const& file, Info const& info);

}  // namespace terrazzo::cli
