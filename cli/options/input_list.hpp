// SPDX-License-Identifier: Apache-2.0
//
// Names of files from a list: more than a command line takes.
#pragma once

#include <istream>
#include <string>
#include <vector>

namespace terrazzo::cli {

// One name per line, without a carriage return at its end; empty lines are skipped. `name` is the list's own, for
// errors.
[[nodiscard]] std::vector<std::string> read_names(std::istream& in, std::string const& name);

// The names in a file; "-" is standard input. Throws `io`.
[[nodiscard]] std::vector<std::string> read_names(std::string const& path);

}  // namespace terrazzo::cli
