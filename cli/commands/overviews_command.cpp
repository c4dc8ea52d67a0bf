// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"
#include "commands/each_file.hpp"
#include "interrupt.hpp"
#include "options/options.hpp"
#include "options/output_name.hpp"
#include "options/write_options.hpp"
#include "output/errors.hpp"
#include "output/exit_code.hpp"
#include "output/format.hpp"
#include "output/json_output.hpp"
#include "output/progress_bar.hpp"

#include "terrazzo/overviews.hpp"

#include <chrono>
#include <iostream>
#include <memory>

namespace terrazzo::cli {
namespace {

constexpr char kFooter[] =
    R"(Overviews are stored in the file, or with --external in FILE.ovr beside it. Existing overviews are replaced unless
--keep is given. Tiles have the raster's compression and size unless options change them. A crash leaves the old file
readable. A COG is no longer a COG afterwards; "terrazzo edit FILE --rewrite" restores its layout.

Examples:
  terrazzo overviews dem.tif                                           halve until a level fits 256 pixels
  terrazzo overviews dem.tif --factors 2,4,8 --resampling average
  terrazzo overviews dem.tif --external                                leaves the file itself unchanged
  terrazzo overviews dem.tif --factors none                            removes overviews
  terrazzo overviews dem.tif --device                                  on the GPU, the same pixels)";

struct Options {
  CommonOptions common;
  WriteChoices choices;
  bool external = false, keep = false, fill_bad = false, no_clobber = false;
  std::vector<std::string> files;
};

OverviewOptions make_options(Options const& options) {
  OverviewOptions how;
  how.factors = options.choices.overviews;
  how.resampling = options.choices.overview_resampling;
  how.place = options.external ? OverviewPlace::external : OverviewPlace::internal;
  how.keep = options.keep;
  how.adjust = [&choices = options.choices](WriteOptions& write) { apply_choices(choices, write); };
  how.bad_tile = options.fill_bad ? BadTile::fill : BadTile::error;
  how.durability = options.choices.fsync ? Durability::fsync : Durability::none;
  if (options.choices.buffer_bytes != 0) { how.streaming_buffer_bytes = options.choices.buffer_bytes; }
  how.open = options.common.open;
  how.threads = options.common.threads;
  how.cancel = cancel_flag();
  return how;
}

Json to_json(std::string const& file, OverviewReport const& report, double seconds) {
  Json overviews = Json::array();
  for (OverviewInfo const& overview : report.overviews) {
    overviews.push_back({{"width", overview.width}, {"height", overview.height}, {"external", overview.external}});
  }
  return {{"file", file},
          {"out", report.file},
          {"overviews", std::move(overviews)},
          {"tiles", report.write.tiles},
          {"device_tiles", report.write.device_tiles},
          {"bytes", report.write.bytes_written},
          {"no_longer_cog", report.no_longer_cog},
          {"hides_sidecar", report.hides_sidecar},
          {"seconds", seconds},
          {"bad_tiles", bad_tiles_to_json(report.read.bad_tiles)}};
}

void print_text(std::string const& file, OverviewReport const& report, double seconds) {
  std::cout << printable_name(report.file) << ": ";
  if (report.overviews.empty()) {
    std::cout << "no overviews\n";
  } else {
    for (std::size_t i = 0; i < report.overviews.size(); ++i) {
      std::cout << (i > 0 ? ", " : "") << format_size(report.overviews[i].width, report.overviews[i].height);
    }
    std::cout << "; " << format_bytes(report.write.bytes_written) << " in " << format_seconds(seconds) << '\n';
  }
  if (report.no_longer_cog) {
    std::cerr
        << "terrazzo: warning: " << printable_name(file) << " is no longer a COG"
        << (report.file == file
                ? "; \"terrazzo edit FILE --rewrite\" (if it has a ghost area) or \"terrazzo cog\" makes it one again\n"
                : ": a COG has internal overviews; \"terrazzo cog\" writes them\n");
  }
  if (report.hides_sidecar) {
    std::cerr << "terrazzo: warning: " << printable_name(file) << ".ovr is now ignored by readers and can be removed\n";
  }
  warn_of_bad_tiles(file, report.read.bad_tiles);
}

FileResult run_file(Options const& options, std::string const& file) {
  auto const started = std::chrono::steady_clock::now();
  OverviewOptions how = make_options(options);
  ProgressBar bar("overviews", options.common.quiet);
  bar.set_bytes(plan(open_file(file, options.common)).result_bytes());
  how.progress = bar.callback();
  OverviewReport const report = add_overviews(file, how);
  bar.clear();
  double const seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  if (!options.common.json && !options.common.quiet) { print_text(file, report, seconds); }
  FileResult result{to_json(file, report, seconds)};
  result.is_skipped = options.keep && report.write.tiles == 0;
  result.bytes_written = report.write.bytes_written;
  return result;
}

int run(Options const& options) {
  if (options.choices.bigtiff && !options.external) {
    throw Error(ErrorKind::usage, "--bigtiff needs --external: the format of an existing file cannot change");
  }
  if (options.no_clobber) {
    for (std::string const& file : options.files) { check_no_clobber(file + ".ovr"); }
  }
  return run_each_file(
      options.files, options.common.json, [&](std::string const& file) { return run_file(options, file); },
      options.common.quiet ? std::nullopt : std::optional(FinalTable{"have these overviews already"}));
}

}  // namespace

void add_overviews(CLI::App& app, Action& action) {
  auto const options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("overviews", "Add overviews inside files or beside them");
  command->footer(kFooter);
  add_files(*command, options->files);
  auto* const external = command->add_flag("--external", options->external, "Write FILE.ovr, beside the file");
  add_no_clobber(*command, options->no_clobber)->needs(external);
  command->add_flag("--keep", options->keep, "Keep existing overviews and add only missing ones");
  command->add_flag("--fill-bad", options->fill_bad, "Treat bad tiles as nodata (or 0), with a warning");
  add_overview_choices(*command, options->choices, "--factors");
  add_compression(*command, options->choices);
  add_layout(*command, options->choices, false);
  add_writing(*command, options->choices);
  add_write_engine(*command, options->choices);
  add_common(*command, options->common);
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace terrazzo::cli
