// SPDX-License-Identifier: Apache-2.0
#include "commands/each_file.hpp"

#include "output/errors.hpp"
#include "output/json_output.hpp"

#include <algorithm>
#include <iostream>
#include <utility>

namespace terrazzo::cli {

int run_each_file(std::vector<std::string> const& files, bool json,
                  std::function<FileResult(std::string const&)> const& command) {
  if (files.size() == 1) {
    FileResult const result = command(files.front());
    if (json) { print_json(result.json); }
    return result.code;
  }
  Json results = Json::array();
  int code = kExitOk;
  std::size_t failures = 0;
  for (std::string const& file : files) {
    FileResult result;
    try {
      result = command(file);
    } catch (Error const& error) {
      if (error.kind() == ErrorKind::cancelled) { throw; }
      ++failures;
      print_error(error, json);
      result = {{{"file", file}, {"error", error_to_json(error)}}, exit_code(error.kind())};
    }
    results.push_back(std::move(result.json));
    code = std::max(code, result.code);
  }
  if (json) {
    print_json(results);
  } else if (failures > 0) {
    std::cerr << "terrazzo: " << failures << " of " << files.size() << " files failed\n";
  }
  return code;
}

}  // namespace terrazzo::cli
