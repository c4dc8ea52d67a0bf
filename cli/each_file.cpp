// SPDX-License-Identifier: Apache-2.0
#include "each_file.hpp"

#include "errors.hpp"
#include "json_output.hpp"

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
  for (std::string const& file : files) {
    FileResult result;
    try {
      result = command(file);
    } catch (Error const& error) {
      if (error.kind() == ErrorKind::cancelled) { throw; }
      print_error(error, json);
      result = {{{"file", file}, {"error", error_to_json(error)}}, exit_code(error.kind())};
    }
    results.push_back(std::move(result.json));
    if (code == kExitOk) { code = result.code; }
  }
  if (json) { print_json(results); }
  return code;
}

}  // namespace terrazzo::cli
