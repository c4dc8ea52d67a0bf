// SPDX-License-Identifier: Apache-2.0
//
// Scripts that complete the command line in a shell.
#pragma once

#include "manual/facts.hpp"

#include <string>

namespace terrazzo::cli {

[[nodiscard]] std::string bash_completion(CommandFacts const& program);
[[nodiscard]] std::string zsh_completion(CommandFacts const& program);
[[nodiscard]] std::string fish_completion(CommandFacts const& program);

}  // namespace terrazzo::cli
