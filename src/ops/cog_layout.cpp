// SPDX-License-Identifier: Apache-2.0
#include "ops/cog_layout.hpp"

#include "terrazzo/error.hpp"
#include "terrazzo/read.hpp"
#include "terrazzo/validate.hpp"

#include <algorithm>

namespace terrazzo::ops {

CogLayout cog_layout(std::string const& path) {
  OpenOptions const alone{.sidecars = false};
  try {
    ValidateOptions options;
    options.open = alone;
    options.max_findings = 1;
    Validation const validation = validate(path, options);
    // Large rasters without overviews pass validators too, with a warning; so do most plain files.
    bool const plain = std::ranges::any_of(
        validation.findings, [](Finding const& f) { return f.rule == "overviews-missing" || f.rule == "strips"; });
    if (!validation.valid_cog || plain) { return {}; }
    Info const info = open(path, alone).info();
    return {.valid = true, .has_overviews = !info.overviews.empty()};
  } catch (Error const& error) {
    // Too large to be looked at.
    if (error.kind() != ErrorKind::limit) { throw; }
    return {};
  }
}

}  // namespace terrazzo::ops
