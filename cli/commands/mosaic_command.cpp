// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"
#include "commands/conversion_json.hpp"
#include "interrupt.hpp"
#include "options/input_list.hpp"
#include "options/options.hpp"
#include "options/output_name.hpp"
#include "options/usage.hpp"
#include "options/write_options.hpp"
#include "output/errors.hpp"
#include "output/exit_code.hpp"
#include "output/format.hpp"
#include "output/json_output.hpp"
#include "output/progress_bar.hpp"

#include "terrazzo/mosaic.hpp"
#include "terrazzo/output_file.hpp"

#include <chrono>
#include <iostream>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace terrazzo::cli {
namespace {

constexpr char kFooter[] =
    R"(All files have one CRS. The grid is that of the first file; others are snapped to it by nearest. A pixel that is
missing in one file (nodata, mask, alpha 0, NaN) lets the next one show through. Files are opened as needed, so the limit
of open files does not limit their number. Pixels are composed on the host.

Examples:
  terrazzo mosaic west.tif east.tif -o both.tif
  terrazzo mosaic tiles/ -o all.tif --cog                              all TIFF files of a folder
  terrazzo mosaic --inputs-from tiles.txt -o all.tif --cog             a list, one name per line
  terrazzo mosaic scenes/*.tif -o newest.tif --rule last --nodata 0    the last file on top
  terrazzo mosaic a.tif b.tif -o part.tif --bbox 9,45,10,46 --target-resolution 0.001)";

struct Options {
  CommonOptions common;
  Selection selection;
  WriteChoices choices;
  std::vector<std::string> inputs;
  std::string list, out;
  MosaicRule rule = MosaicRule::first;
  bool cog = false, no_clobber = false;
};

std::vector<std::string> named_inputs(Options const& options) {
  std::vector<std::string> names = options.inputs;
  if (!options.list.empty()) {
    std::vector<std::string> const listed = read_names(options.list);
    names.insert(names.end(), listed.begin(), listed.end());
  }
  if (names.empty()) {
    throw Error(ErrorKind::usage, options.list.empty()
                                      ? "the files are missing; type \"terrazzo mosaic FILE... --out PATH\", or "
                                        "--inputs-from LIST for a list of names"
                                      : "the list of inputs is empty");
  }
  return mosaic_inputs(names, options.out);
}

// Files are opened several times; the warnings about each are shown once.
struct OpenWithWarnings {
  struct Shown {
    std::mutex mutex;
    std::set<std::string> paths;
  };
  CommonOptions common;
  std::shared_ptr<Shown> shown = std::make_shared<Shown>();

  Dataset operator()(std::string const& path) const {
    Dataset dataset = open(path, common.open);
    if (dataset.info().warnings.empty()) { return dataset; }
    std::lock_guard const lock(shown->mutex);
    if (shown->paths.insert(path).second) { show_warnings(path, dataset.info(), common); }
    return dataset;
  }
};

MosaicRequest make_request(Options const& options, std::string const& first) {
  Selection const& selection = options.selection;
  MosaicRequest request;
  request.rule = options.rule;
  request.resolution = selection.target_resolution;
  request.bands = selection.bands;
  request.dtype = selection.dtype;
  request.bad_tile = selection.fill_bad ? BadTile::fill : BadTile::error;
  request.strict = selection.strict;
  request.threads = options.common.threads;
  request.cancel = cancel_flag();
  request.open = OpenWithWarnings{options.common};
  if (selection.bbox) { request.bounds = selected_box(open(first, options.common.open), selection); }
  return request;
}

WriteOptions make_write_options(Options const& options, MosaicPlan const& plan) {
  WriteOptions write = mosaic_options(plan);
  write.cog = options.cog;
  apply_choices(options.choices, write);
  write.cancel = cancel_flag();
  write.threads = options.common.threads;
  return write;
}

int run(Options const& options) {
  auto const started = std::chrono::steady_clock::now();
  check_tiff_name(options.out);
  if (options.no_clobber) { check_no_clobber(options.out); }
  apply_settings(options.common);
  std::vector<std::string> const inputs = named_inputs(options);
  MosaicPlan const plan = plan_mosaic(inputs, make_request(options, inputs.front()));
  WriteOptions write = make_write_options(options, plan);
  ProgressBar bar("mosaic", options.common.quiet);
  bar.set_bytes(std::uint64_t{plan.width()} * plan.height() * plan.bands() * size_bytes(plan.dtype()));
  write.progress = bar.callback();
  MosaicReport const report = mosaic(plan, options.out, write);
  double const seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  bar.clear();
  bool const stdout_taken = is_standard_output(options.out);
  if (options.common.json) {
    Json json{{"out", options.out},      {"inputs", plan.input_count()},   {"used", plan.used_count()},
              {"width", plan.width()},   {"height", plan.height()},        {"bands", plan.bands()},
              {"gaps", plan.has_gaps()}, {"rule", to_string(options.rule)}};
    json.update(conversion_to_json({report.read, report.write}, seconds));
    print_json_beside(json, stdout_taken);
  } else if (!options.common.quiet && !stdout_taken) {
    std::cout << printable_name(options.out) << ": " << format_size(plan.width(), plan.height()) << " from "
              << format_count(plan.used_count()) << " of " << format_count(plan.input_count()) << " files, "
              << format_bytes(report.write.bytes_written) << " in " << format_seconds(seconds) << '\n';
  }
  if (!options.common.json && !options.common.quiet) { warn_of_bad_tiles(options.out, report.read.bad_tiles); }
  return kExitOk;
}

void add_files(CLI::App& command, Options& options) {
  command.add_option("FILE", options.inputs, "Files, folders or patterns, in the order of the rule")->type_name("");
  command.parse_complete_callback([&command, &options] { refuse_values_as_files(command, options.inputs); });
  command.add_option("--inputs-from", options.list, "A text file with one FILE per line; - for standard input")
      ->type_name("LIST");
  command.add_option("-o,--out", options.out, "The file to write; - for standard output")
      ->type_name("PATH")
      ->required();
  add_no_clobber(command, options.no_clobber);
}

void add_rule(CLI::App& command, Options& options) {
  static constexpr MosaicRule kRules[] = {MosaicRule::first, MosaicRule::last, MosaicRule::minimum, MosaicRule::maximum,
                                          MosaicRule::mean};
  add_choice(
      command, "--rule", {"first", "last", "min", "max", "mean"},
      [&options](std::size_t index) { options.rule = kRules[index]; },
      "The value where files overlap: first (default), last, min, max or mean of the files that have the pixel")
      ->group("Pixels");
}

}  // namespace

void add_mosaic(CLI::App& app, Action& action) {
  auto const options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("mosaic", "Join many files of one CRS to a GeoTIFF or COG");
  command->footer(kFooter);
  add_files(*command, *options);
  add_rule(*command, *options);
  add_bbox(*command, options->selection)
      ->description(
          "Only this box, in coordinates of the files' CRS; parts without a "
          "file are missing pixels. Default: the union of the files");
  add_bands(*command, options->selection);
  add_target_resolution(*command, options->selection)
      ->description(
          "Pixels of exactly this size, in units of the CRS (R or RX,RY), by nearest. Default: the grid of the "
          "first file");
  add_dtype(*command, options->selection);
  add_tolerance(*command, options->selection);
  command->add_flag("--cog", options->cog, "Write a Cloud-Optimized GeoTIFF, with overviews")->group("Layout");
  add_compression(*command, options->choices);
  add_layout(*command, options->choices, true);
  CLI::Option* const strips = command->get_option("--strips");
  strips->excludes(command->get_option("--cog"));
  add_named_overview_choices(*command, options->choices);
  add_description(*command, options->choices);
  command->get_option("--nodata")
      ->description(
          "The value of missing pixels: a number, nan, or none. Default: that of the first file that has one; nan for "
          "floats. "
          "Other nodata values become this one");
  add_writing(*command, options->choices);
  add_common(*command, options->common);
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace terrazzo::cli
