// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"
#include "errors.hpp"
#include "exit_code.hpp"
#include "format.hpp"
#include "interrupt.hpp"
#include "json_output.hpp"
#include "options.hpp"
#include "progress_bar.hpp"
#include "write_options.hpp"

#include "terrazzo/overviews.hpp"

#include <chrono>
#include <iostream>
#include <memory>

namespace terrazzo::cli {
namespace {

constexpr char kFooter[] =
    R"(Overviews go into the file, or with --external into FILE.ovr beside it. Those that are there are replaced, unless
--keep is given. Tiles are compressed and sized as the raster's are, unless told otherwise. A crash leaves the old file
readable. A COG that is changed this way is no COG any more, until "terrazzo edit FILE --rewrite" puts it in order again.

Examples:
  terrazzo overviews dem.tif                                           halved until 256 pixels hold it
  terrazzo overviews dem.tif --factors 2,4,8 --resampling average
  terrazzo overviews dem.tif --external                                the file itself is not touched
  terrazzo overviews dem.tif --factors none                            remove them
  terrazzo overviews dem.tif --device                                  by the GPU, the same pixels)";

struct Options {
  CommonOptions common;
  WriteChoices choices;
  bool external = false, keep = false, fill_bad = false;
  std::string file;
};

OverviewOptions make_options(Options const& options) {
  OverviewOptions how;
  how.factors = options.choices.overviews;
  how.resampling = options.choices.resampling;
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
  std::cout << report.file << ": ";
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
        << "terrazzo: warning: " << file << " is no COG any more"
        << (report.file == file
                ? "; \"terrazzo edit FILE --rewrite\", where it has a ghost area, or \"terrazzo cog\" makes it one "
                  "again\n"
                : ": those have their overviews inside; \"terrazzo cog\" makes one that has\n");
  }
  if (report.hides_sidecar) {
    std::cerr << "terrazzo: warning: " << file << ".ovr is not looked at any more, and can be removed\n";
  }
  warn_of_bad_tiles(file, report.read.bad_tiles);
}

int run(Options const& options) {
  auto const started = std::chrono::steady_clock::now();
  if (options.choices.bigtiff && !options.external) {
    throw Error(ErrorKind::usage, "--bigtiff is for --external: a file that exists is what it is");
  }
  apply_settings(options.common);
  OverviewOptions how = make_options(options);
  ProgressBar bar("overviews", options.common.quiet);
  bar.set_bytes(plan(open_file(options.file, options.common)).result_bytes());
  how.progress = bar.callback();
  OverviewReport const report = add_overviews(options.file, how);
  bar.clear();
  double const seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  if (options.common.json) {
    print_json(to_json(options.file, report, seconds));
  } else if (!options.common.quiet) {
    print_text(options.file, report, seconds);
  }
  return kExitOk;
}

}  // namespace

void add_overviews(CLI::App& app, Action& action) {
  auto const options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("overviews", "Smaller versions of a raster, in its file or beside it");
  command->footer(kFooter);
  add_file(*command, options->file);
  command->add_flag("--external", options->external, "Into FILE.ovr, beside the file");
  command->add_flag("--keep", options->keep, "Overviews that are there stay; only missing ones are made");
  command->add_flag("--fill-bad", options->fill_bad, "Bad tiles count as nodata (or 0), with a warning");
  add_overview_choices(*command, options->choices, "--factors");
  add_compression(*command, options->choices);
  add_layout(*command, options->choices, false);
  add_writing(*command, options->choices);
  add_write_engine(*command, options->choices);
  add_common(*command, options->common);
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace terrazzo::cli
