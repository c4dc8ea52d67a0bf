// SPDX-License-Identifier: Apache-2.0
//
// Everything that is known of a raster, as JSON. The keys are promised (docs/cli.md).
#pragma once

#include "json_output.hpp"

#include "terrazzo/info.hpp"

#include <string>

namespace terrazzo::cli {

[[nodiscard]] Json info_to_json(std::string const& file, Info const& info);

}  // namespace terrazzo::cli
