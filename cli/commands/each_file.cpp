// SPDX-License-Identifier: Apache-2.0
#include "commands/each_file.hpp"

#include "output/errors.hpp"
#include "output/format.hpp"
#include "output/json_output.hpp"
#include "output/outcome_table.hpp"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <utility>

namespace terrazzo::cli {

int run_each_file(std::vector<std::string> const& files, bool json,
                  std::function<FileResult(std::string const&)> const& command,
                  std::optional<FinalTable> const& table) {
  if (files.size() == 1) {
    FileResult const result = command(files.front());
    if (json) { print_json(result.json); }
    return result.code;
  }
  auto const started = std::chrono::steady_clock::now();
  Json results = Json::array();
  int code = kExitOk;
  OutcomeRow done{"done"}, skipped{"skipped"}, failed{"failed"};
  for (std::string const& file : files) {
    FileResult result;
    try {
      result = command(file);
      OutcomeRow& row = result.is_skipped ? skipped : done;
      ++row.files;
      row.bytes_written += result.bytes_written;
    } catch (Error const& error) {
      if (error.kind() == ErrorKind::cancelled) { throw; }
      ++failed.files;
      print_error(error, json);
      result = {{{"file", file}, {"error", error_to_json(error)}}, exit_code(error.kind())};
    }
    results.push_back(std::move(result.json));
    code = std::max(code, result.code);
  }
  if (json) {
    print_json(results);
  } else if (table) {
    double const seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    done.note = "in " + format_seconds(seconds);
    skipped.note = table->skipped;
    print_outcome_table(std::cout, {done, skipped, failed});
  } else if (failed.files > 0) {
    std::cerr << "terrazzo: " << failed.files << " of " << files.size() << " files failed\n";
  }
  return code;
}

}  // namespace terrazzo::cli
