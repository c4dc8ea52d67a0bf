// SPDX-License-Identifier: Apache-2.0
#include "batch/conversion_batch.hpp"

#include "commands/conversion_json.hpp"
#include "interrupt.hpp"
#include "options/output_name.hpp"
#include "options/standard_input.hpp"
#include "output/errors.hpp"
#include "output/exit_code.hpp"
#include "output/format.hpp"
#include "output/outcome_table.hpp"
#include "output/progress_bar.hpp"

#include "terrazzo/device.hpp"
#include "terrazzo/output_file.hpp"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <mutex>
#include <string_view>

namespace terrazzo::cli {
namespace {

bool talks(CommonOptions const& common) { return !common.json && !common.quiet; }

// Options that leave the outputs as they are: places, speed, messages.
constexpr std::string_view kWithoutEffect[] = {
    "FILE",    "--out",     "--out-dir",      "--jobs",   "--overwrite", "--no-clobber",    "--json",
    "--quiet", "--threads", "--memory-limit", "--device", "--host",      "--device-budget", "--buffer",
    "--spool", "--fsync",   "--trust",
};

// Jobs at the same time share the GPU's memory.
void share_device_budget(std::uint32_t jobs, WriteOptions& write) {
  if (write.engine != Engine::device || jobs <= 1) { return; }
  std::uint64_t const all =
      write.device_budget_bytes != 0 ? write.device_budget_bytes : device_state().default_budget_bytes;
  write.device_budget_bytes = std::max<std::uint64_t>(all / jobs, 1);
}

struct StateRow {
  ConvertState state;
  std::string_view meaning;
};
constexpr StateRow kStates[] = {
    {ConvertState::done, ""},
    {ConvertState::skipped, "newer than their sources, with the same options"},
    {ConvertState::failed, ""},
    {ConvertState::cancelled, "not done"},
};

// For people.
void print_table(std::vector<ConvertOutcome> const& outcomes, double seconds) {
  std::vector<OutcomeRow> rows;
  for (auto const& [state, meaning] : kStates) {
    bool const is_done = state == ConvertState::done;
    OutcomeRow& row =
        rows.emplace_back(to_string(state), 0, 0, is_done ? "in " + format_seconds(seconds) : std::string(meaning));
    for (ConvertOutcome const& outcome : outcomes) {
      if (outcome.state != state) { continue; }
      ++row.files;
      if (is_done) { row.bytes_written += outcome.report.write.bytes_written; }
    }
  }
  print_outcome_table(std::cout, rows);
}

}  // namespace

void add_conversion_files(CLI::App& command, ConversionFiles& files) {
  command.add_option("FILE", files.inputs, "Files, folders or patterns; - for standard input")
      ->required()
      ->type_name("");
  auto* const out = command.add_option("-o,--out", files.out, "The file to write, for one FILE; - for standard output")
                        ->type_name("PATH");
  auto* const folder = command.add_option("--out-dir", files.out_folder, "The folder to write to, created if needed")
                           ->type_name("FOLDER")
                           ->excludes(out);
  add_whole(command, "--jobs", files.jobs, "Files converted at once, with --out-dir; default 1", 1)->needs(folder);
  auto* const overwrite =
      command.add_flag("--overwrite", files.overwrite,
                       "With --out-dir: also convert files whose output is finished. -o is always written");
  add_no_clobber(command, files.no_clobber)->excludes(overwrite);
}

bool is_single(ConversionFiles const& files) {
  if (files.out.empty() && files.out_folder.empty()) {
    bool const is_pair = files.inputs.size() == 2;  // gdal_translate's order
    if (is_pair) { check_tiff_name(files.inputs.back()); }
    throw Error(ErrorKind::usage, is_pair ? "--out is missing; type \"--out " + files.inputs.back() +
                                                "\" for one file, --out-dir FOLDER for any number"
                                          : "an output is missing: type -o PATH for one file, --out-dir FOLDER for "
                                            "any number");
  }
  if (!files.out.empty() && files.inputs.size() != 1) {
    throw Error(ErrorKind::usage, "-o is for one file; type --out-dir FOLDER for several");
  }
  if (files.out.empty() && std::ranges::any_of(files.inputs, is_standard_input)) {
    throw Error(ErrorKind::usage, "standard input has no name in a folder; type -o PATH");
  }
  return !files.out.empty();
}

std::string options_text(CLI::App const& command) {
  std::string text = command.get_name();
  for (CLI::Option const* option : command.get_options()) {
    if (option->count() == 0 || std::ranges::find(kWithoutEffect, option->get_name()) != std::end(kWithoutEffect)) {
      continue;
    }
    text += " " + option->get_name();
    if (option->get_items_expected_max() == 0) { continue; }  // a flag
    for (std::string const& value : option->results()) { text += " " + value; }
  }
  return text;
}

Json outcome_to_json(ConvertJob const& job, ConvertOutcome const& outcome) {
  Json json{{"file", job.source}, {"out", job.out}, {"state", to_string(outcome.state)}};
  if (outcome.state == ConvertState::done) { json.update(conversion_to_json(outcome.report, outcome.seconds)); }
  if (outcome.error) { json["error"] = error_to_json(*outcome.error); }
  return json;
}

void print_done(ConvertJob const& job, ConvertOutcome const& outcome) {
  if (!is_standard_output(job.out)) {
    std::cout << printable_name(job.out) << ": " << format_bytes(outcome.report.write.bytes_written) << " in "
              << format_seconds(outcome.seconds) << std::endl;
  }
  warn_of_bad_tiles(job.source, outcome.report.read.bad_tiles);
}

int run_batch(ConversionFiles const& files, CommonOptions const& common, ConversionBatch const& batch) {
  auto const started = std::chrono::steady_clock::now();
  apply_settings(common);
  std::vector<ConvertJob> const jobs = conversion_jobs(files.inputs, files.out_folder);
  if (files.no_clobber) {
    for (ConvertJob const& job : jobs) { check_no_clobber(job.out); }
  }
  ProgressBar bar(batch.label, common.quiet);
  std::mutex console;  // taken by threads that print
  ConvertManyOptions many;
  many.jobs = files.jobs;
  many.threads = common.threads;
  many.overwrite = files.overwrite;
  many.options_text = batch.options_text;
  many.cancel = cancel_flag();
  many.open = [&](std::string const& path) {
    Dataset dataset = open(path, common.open);
    std::lock_guard const lock(console);
    for (auto const& warning : dataset.info().warnings) {
      if (!talks(common)) { break; }
      bar.clear();
      std::cerr << "terrazzo: warning: " << printable_name(path) << ": " << printable_name(warning) << '\n';
    }
    return dataset;
  };
  many.setup = [&](Dataset const& dataset) {
    ConvertSetup setup = batch.setup(dataset);
    share_device_budget(files.jobs, setup.write);
    return setup;
  };
  many.finished = [&](ConvertOutcome const& outcome) {
    std::lock_guard const lock(console);
    bar.clear();
    if (common.json) {
      std::cout << to_line(outcome_to_json(jobs[outcome.index], outcome)) << std::endl;
    } else if (outcome.state == ConvertState::done && talks(common)) {
      print_done(jobs[outcome.index], outcome);
    }
  };
  many.progress = [&](ConvertProgress const& progress) {
    std::lock_guard const lock(console);
    bar.set_label(batch.label + " " + std::to_string(progress.files_done) + "/" + std::to_string(progress.files_total));
    bar.set_bytes(progress.bytes_total);
    bar.update(progress.bytes_done, progress.bytes_total);
    return true;
  };
  std::vector<ConvertOutcome> const outcomes = convert_many(jobs, many);
  bar.clear();
  double const seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  if (talks(common)) { print_table(outcomes, seconds); }
  int code = kExitOk;
  for (ConvertOutcome const& outcome : outcomes) {
    if (!outcome.error) { continue; }
    code = std::max(code, exit_code(outcome.error->kind()));
    if (!common.json) { print_error(*outcome.error, false); }
  }
  throw_if_cancelled();
  return code;
}

}  // namespace terrazzo::cli
