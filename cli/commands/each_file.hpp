// SPDX-License-Identifier: Apache-2.0
//
// Commands that take any number of files.
#pragma once

#include "output/exit_code.hpp"

#include <nlohmann/json.hpp>

#include <functional>
#include <string>
#include <vector>

namespace terrazzo::cli {

struct FileResult {
  nlohmann::ordered_json json;
  int code = kExitOk;
};

// Runs the command on each file in order and, with `json`, prints the results: one object for a single file, a list for
// several. The error of a single file is rethrown; with several files, errors are printed and the other files
// are processed, and counted at the end. Returns the highest code.
[[nodiscard]] int run_each_file(std::vector<std::string> const& files, bool json,
                                std::function<FileResult(std::string const&)> const& command);

}  // namespace terrazzo::cli
