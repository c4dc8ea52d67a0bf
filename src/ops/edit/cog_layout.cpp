// SPDX-License-Identifier: Apache-2.0
#include "ops/edit/cog_layout.hpp"

#include "terrazzo/error.hpp"
#include "terrazzo/read.hpp"
#include "terrazzo/validate.hpp"

namespace terrazzo::ops {

CogLayout cog_layout(std::string const& path) {
  OpenOptions const alone{.sidecars = false};
  try {
    ValidateOptions options;
    options.open = alone;
    options.max_findings = 1;
    Validation const validation = validate(path, options);
    if (!validation.valid_cog) { return {}; }
    Info const info = open(path, alone).info();
    return {.valid = true, .has_overviews = !info.overviews.empty()};
  } catch (Error const& error) {
    // The file is too large to check.
    if (error.kind() != ErrorKind::limit) { throw; }
    return {};
  }
}

}  // namespace terrazzo::ops
