// SPDX-License-Identifier: Apache-2.0
//
// Commands of any number of files.
#pragma once

#include "exit_code.hpp"

#include <nlohmann/json.hpp>

#include <functional>
#include <string>
#include <vector>

namespace terrazzo::cli {

struct FileResult {
  nlohmann::ordered_json json;
  int code = kExitOk;
};

// Runs the command on one file after the other and, with `json`, prints what it found: of a single file as it is, of
// several in a list. The error of a single file is thrown on; of several, a bad one is reported, and the others still
// have their turn. Returns the first code that is not kExitOk.
[[nodiscard]] int run_each_file(std::vector<std::string> const& files, bool json,
                                std::function<FileResult(std::string const&)> const& command);

}  // namespace terrazzo::cli
