// SPDX-License-Identifier: Apache-2.0
//
// Manual pages in roff, section 1.
#pragma once

#include "manual/facts.hpp"

#include <string>

namespace terrazzo::cli {

// "terrazzo-bench-read"; the page's file adds ".1".
[[nodiscard]] std::string man_page_name(CommandFacts const& command);

// `program` is the outermost command, for the list of other pages.
[[nodiscard]] std::string man_page(CommandFacts const& program, CommandFacts const& command);

}  // namespace terrazzo::cli
