// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"
#include "conversion_json.hpp"
#include "errors.hpp"
#include "exit_code.hpp"
#include "format.hpp"
#include "interrupt.hpp"
#include "json_output.hpp"
#include "options.hpp"
#include "progress_bar.hpp"
#include "write_options.hpp"

#include "terrazzo/convert.hpp"
#include "terrazzo/device.hpp"
#include "terrazzo/output_file.hpp"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace terrazzo::cli {
namespace {

constexpr char kFooter[] =
    R"(Overviews are made on the way; every file is written in one pass and is a valid COG. With --out-dir, outputs that
are newer than their sources are skipped, so that a run that was stopped goes on where it was; a file that fails does
not stop the others. Folders are taken with all TIFF files in them.

Examples:
  terrazzo cog dem.tif -o dem_cog.tif
  terrazzo cog dem.tif -o dem_cog.tif --compression deflate --resampling cubic
  terrazzo cog dem.tif -o dem_cog.tif --device                       by the GPU, the same pixels
  terrazzo cog scenes/*.tif more/ --out-dir cogs --jobs 4)";

struct Options {
  CommonOptions common;
  Selection selection;
  WriteChoices choices;
  std::vector<std::string> inputs;
  std::string out, out_folder;
  std::uint32_t jobs = 1;
  bool overwrite = false;

  // One file to a place of its own, which is then always written.
  [[nodiscard]] bool is_single() const { return !out.empty(); }
  [[nodiscard]] bool talks() const { return !common.json && !common.quiet; }
};

Json to_json(ConvertJob const& job, ConvertOutcome const& outcome) {
  Json json{{"file", job.source}, {"out", job.out}, {"state", to_string(outcome.state)}};
  if (outcome.state == ConvertState::done) { json.update(conversion_to_json(outcome.report, outcome.seconds)); }
  if (outcome.error) { json["error"] = error_to_json(*outcome.error); }
  return json;
}

void print_done(Options const& options, ConvertJob const& job, ConvertOutcome const& outcome) {
  if (!options.talks()) { return; }
  if (!is_standard_output(job.out)) {
    std::cout << job.out << ": " << format_bytes(outcome.report.write.bytes_written) << " in "
              << format_seconds(outcome.seconds) << std::endl;
  }
  warn_of_bad_tiles(job.source, outcome.report.read.bad_tiles);
}

ConvertSetup make_setup(Options const& options, Dataset const& dataset) {
  ConvertSetup setup;
  setup.read = make_request(dataset, options.selection);
  apply_engine(options.choices, setup.read);
  setup.write = conversion_options(dataset, setup.read);
  setup.write.cog = true;
  apply_choices(options.choices, setup.write);
  make_alpha_the_mask(dataset, setup.read, setup.write);
  if (setup.write.engine == Engine::device && options.jobs > 1) {
    std::uint64_t const all =
        setup.write.device_budget_bytes != 0 ? setup.write.device_budget_bytes : device_state().default_budget_bytes;
    setup.write.device_budget_bytes = std::max<std::uint64_t>(all / options.jobs, 1);
  }
  return setup;
}

int run_single(Options const& options) {
  auto const started = std::chrono::steady_clock::now();
  if (options.inputs.size() != 1) {
    throw Error(ErrorKind::usage, "-o is for one file; type --out-dir FOLDER for several");
  }
  ConvertJob const job{options.inputs.front(), options.out};
  Dataset const dataset = open_file(job.source, options.common);
  ConvertSetup setup = make_setup(options, dataset);
  ProgressBar bar("cog", options.common.quiet);
  bar.set_bytes(plan(dataset, setup.read).result_bytes());
  setup.write.progress = bar.callback();
  setup.write.cancel = cancel_flag();
  setup.write.threads = options.common.threads;
  ConvertOutcome outcome;
  outcome.report = convert(dataset, job.out, setup.write, setup.read);
  outcome.state = ConvertState::done;
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  bar.clear();
  if (options.common.json) {
    print_json_beside(to_json(job, outcome), is_standard_output(job.out));
  } else {
    print_done(options, job, outcome);
  }
  return kExitOk;
}

// What happened to all of them, for people.
void print_summary(std::vector<ConvertJob> const& jobs, std::vector<ConvertOutcome> const& outcomes, double seconds) {
  auto const count = [&](ConvertState state) { return std::ranges::count(outcomes, state, &ConvertOutcome::state); };
  std::uint64_t bytes = 0;
  for (ConvertOutcome const& outcome : outcomes) { bytes += outcome.report.write.bytes_written; }
  std::cout << format_count(jobs.size()) << (jobs.size() == 1 ? " file: " : " files: ") << count(ConvertState::done)
            << " written (" << format_bytes(bytes) << ")";
  if (auto const skipped = count(ConvertState::skipped)) {
    std::cout << ", " << skipped << " newer than their sources";
  }
  if (auto const failed = count(ConvertState::failed)) { std::cout << ", " << failed << " failed"; }
  if (auto const left = count(ConvertState::cancelled)) { std::cout << ", " << left << " not done"; }
  std::cout << ", in " << format_seconds(seconds) << std::endl;
}

int run_many(Options const& options) {
  auto const started = std::chrono::steady_clock::now();
  apply_settings(options.common);
  std::vector<ConvertJob> const jobs = conversion_jobs(options.inputs, options.out_folder);
  ProgressBar bar("cog", options.common.quiet);
  std::mutex console;  // what is printed by working threads
  ConvertManyOptions many;
  many.jobs = options.jobs;
  many.threads = options.common.threads;
  many.overwrite = options.overwrite;
  many.cancel = cancel_flag();
  many.open = [&](std::string const& path) {
    Dataset dataset = open(path, options.common.open);
    std::lock_guard const lock(console);
    for (auto const& warning : dataset.info().warnings) {
      if (!options.talks()) { break; }
      bar.clear();
      std::cerr << "terrazzo: warning: " << path << ": " << warning << '\n';
    }
    return dataset;
  };
  many.setup = [&](Dataset const& dataset) { return make_setup(options, dataset); };
  many.finished = [&](ConvertOutcome const& outcome) {
    std::lock_guard const lock(console);
    bar.clear();
    if (options.common.json) {
      std::cout << to_line(to_json(jobs[outcome.index], outcome)) << std::endl;
    } else if (outcome.state == ConvertState::done) {
      print_done(options, jobs[outcome.index], outcome);
    }
  };
  many.progress = [&](ConvertProgress const& progress) {
    std::lock_guard const lock(console);
    bar.set_label("cog " + std::to_string(progress.files_done) + "/" + std::to_string(progress.files_total));
    bar.set_bytes(progress.bytes_total);
    bar.update(progress.bytes_done, progress.bytes_total);
    return true;
  };
  std::vector<ConvertOutcome> const outcomes = convert_many(jobs, many);
  bar.clear();
  double const seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  if (options.talks()) { print_summary(jobs, outcomes, seconds); }
  int code = kExitOk;
  for (ConvertOutcome const& outcome : outcomes) {
    if (!outcome.error) { continue; }
    if (code == kExitOk) { code = exit_code(outcome.error->kind()); }
    if (!options.common.json) { print_error(*outcome.error, false); }
  }
  throw_if_cancelled();
  return code;
}

}  // namespace

void add_cog(CLI::App& app, Action& action) {
  auto const options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("cog", "Any readable file, or many, into Cloud-Optimized GeoTIFFs");
  command->footer(kFooter);
  command->add_option("FILE", options->inputs, "Files, folders or patterns")->required()->type_name("");
  auto* const out =
      command->add_option("-o,--out", options->out, "The file to write, for one FILE; - for standard output")
          ->type_name("PATH");
  auto* const folder = command->add_option("--out-dir", options->out_folder, "The folder to write to, made if need be")
                           ->type_name("FOLDER")
                           ->excludes(out);
  add_whole(*command, "--jobs", options->jobs, "Files converted at once, with --out-dir; default 1", 1)->needs(folder);
  command
      ->add_flag("--overwrite", options->overwrite, "With --out-dir: also write what is newer than its source already")
      ->needs(folder);
  add_conversion_choices(*command, options->choices, options->selection, false);
  CLI::Option* const compression = command->get_option("--compression");
  compression->description(compression->get_description() +
                           ". With jpeg alpha becomes a mask, which is exact, unless --bands, --mask or --interleave "
                           "band is given");
  add_common(*command, options->common);
  command->callback([options, &action] {
    action = [options] {
      if (options->out.empty() && options->out_folder.empty()) {
        throw Error(ErrorKind::usage, "where to? Type -o PATH for one file, --out-dir FOLDER for any number");
      }
      return options->is_single() ? run_single(*options) : run_many(*options);
    };
  });
}

}  // namespace terrazzo::cli
