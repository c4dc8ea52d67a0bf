// SPDX-License-Identifier: Apache-2.0
//
// Conversion of many files into a folder, for `convert` and `cog`: options, progress, results and the table at the end.
#pragma once

#include "options/options.hpp"
#include "output/json_output.hpp"

#include "terrazzo/convert.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace terrazzo::cli {

// The inputs and outputs of a conversion of one file or of many.
struct ConversionFiles {
  std::vector<std::string> inputs{};
  std::string out{}, out_folder{};
  std::uint32_t jobs = 1;
  bool overwrite = false, no_clobber = false;
};

// FILE, --out, --out-dir, --jobs, --overwrite, --no-clobber
void add_conversion_files(CLI::App& command, ConversionFiles& files);

// True for one file with a given output path, which is always written. Throws `usage` if the output is missing, or if
// there are several inputs for one output.
[[nodiscard]] bool is_single(ConversionFiles const& files);

// The options on the command line that change the outputs, as text: "cog --compression deflate".
[[nodiscard]] std::string options_text(CLI::App const& command);

struct ConversionBatch {
  std::string label{};  // of the progress bar
  std::string options_text{};
  std::function<ConvertSetup(Dataset const&)> setup{};
};

// Converts all inputs into the folder; prints each result and, at the end, a table of states and the errors. Returns
// the highest exit code of the files.
[[nodiscard]] int run_batch(ConversionFiles const& files, CommonOptions const& common, ConversionBatch const& batch);

[[nodiscard]] Json outcome_to_json(ConvertJob const& job, ConvertOutcome const& outcome);

// The line of a finished file, and warnings about its bad tiles.
void print_done(ConvertJob const& job, ConvertOutcome const& outcome);

}  // namespace terrazzo::cli
