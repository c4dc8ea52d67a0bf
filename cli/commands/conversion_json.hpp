// SPDX-License-Identifier: Apache-2.0
//
// The result of a conversion, as `convert --json` and `cog --json` print it.
#pragma once

#include "output/json_output.hpp"

#include "terrazzo/convert.hpp"

namespace terrazzo::cli {

// The keys after the names of the files.
[[nodiscard]] Json conversion_to_json(ConvertReport const& report, double seconds);

}  // namespace terrazzo::cli
