// SPDX-License-Identifier: Apache-2.0
//
// What a conversion came to, as `convert --json` and `cog --json` print it.
#pragma once

#include "json_output.hpp"

#include "terrazzo/convert.hpp"

namespace terrazzo::cli {

// The keys that follow the names of the files.
[[nodiscard]] Json conversion_to_json(ConvertReport const& report, double seconds);

}  // namespace terrazzo::cli
