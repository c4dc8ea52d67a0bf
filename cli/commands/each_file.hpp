// SPDX-License-Identifier: Apache-2.0
//
// Commands that take any number of files.
#pragma once

#include "output/exit_code.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace terrazzo::cli {

struct FileResult {
  nlohmann::ordered_json json;
  int code = kExitOk;
  bool is_skipped = false;  // there was nothing to do
  std::uint64_t bytes_written = 0;
};

// A table of done, skipped and failed files at the end, for commands that change or write files.
struct FinalTable {
  std::string_view skipped{};  // why files are skipped
};

// Runs the command on each file in order and, with `json`, prints the results: one object for a single file, a list for
// several. The error of a single file is rethrown; with several files, errors are printed and the other files
// are processed, and counted at the end: in a table on standard output, or without one on standard error. Returns the
// highest code.
[[nodiscard]] int run_each_file(std::vector<std::string> const& files, bool json,
                                std::function<FileResult(std::string const&)> const& command,
                                std::optional<FinalTable> const& table = {});

}  // namespace terrazzo::cli
