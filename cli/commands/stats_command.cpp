// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"
#include "commands/each_file.hpp"
#include "options/options.hpp"
#include "options/parse.hpp"
#include "output/errors.hpp"
#include "output/exit_code.hpp"
#include "output/format.hpp"
#include "output/json_output.hpp"
#include "output/progress_bar.hpp"

#include "terrazzo/stats.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <memory>

namespace terrazzo::cli {
namespace {

constexpr std::uint32_t kDefaultBins = 16;
constexpr std::uint32_t kBarColumns = 50;
constexpr std::size_t kMaxBarsShown = 64;

constexpr char kFooter[] =
    R"(Missing pixels (nodata, mask, NaN) are left out. Results for integers are exact, and results are the same for any
number of threads. Complex samples count by magnitude.

Examples:
  terrazzo stats dem.tif
  terrazzo stats dem.tif --bins 256 --json
  terrazzo stats dem.tif --level 2                 faster, from an overview
  terrazzo stats scaled.tif --unpack --bins 0      physical values, no histogram
  terrazzo stats dem.tif --device                  decoded on the GPU, counted on the host)";

struct Options {
  CommonOptions common;
  Selection selection;
  EngineOptions engine;
  std::vector<std::string> files;
  std::uint32_t bins = kDefaultBins;
  std::optional<std::pair<double, double>> range;
};

Json band_to_json(BandStats const& stats) {
  Json histogram;
  if (!stats.histogram.empty()) {
    histogram = {{"minimum", number(stats.histogram_min)},
                 {"maximum", number(stats.histogram_max)},
                 {"counts", stats.histogram}};
  }
  return {{"band", stats.band},
          {"valid", stats.valid},
          {"total", stats.total},
          {"minimum", number(stats.minimum)},
          {"maximum", number(stats.maximum)},
          {"mean", number(stats.mean)},
          {"stddev", number(stats.stddev)},
          {"histogram", std::move(histogram)}};
}

void print_histogram(BandStats const& stats) {
  std::uint64_t const tallest = *std::max_element(stats.histogram.begin(), stats.histogram.end());
  if (tallest == 0) {
    std::cout << "    no pixel is in the histogram's range\n";
    return;
  }
  if (stats.histogram.size() > kMaxBarsShown) {
    std::cout << "    " << stats.histogram.size() << " bins are too many to draw: --json lists them\n";
    return;
  }
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < stats.histogram.size(); ++i) {
    char label[32];
    double const share = static_cast<double>(i) / static_cast<double>(stats.histogram.size());
    std::snprintf(label, sizeof label, "%.6g", std::lerp(stats.histogram_min, stats.histogram_max, share));
    labels.emplace_back(label);
  }
  std::size_t widest = 0;
  for (auto const& label : labels) { widest = std::max(widest, label.size()); }
  for (std::size_t i = 0; i < stats.histogram.size(); ++i) {
    double const share = static_cast<double>(stats.histogram[i]) / static_cast<double>(tallest);
    auto const columns = static_cast<std::size_t>(share * kBarColumns + 0.5);
    std::cout << "    " << std::string(widest - labels[i].size(), ' ') << labels[i] << " |" << std::string(columns, '#')
              << ' ' << format_count(stats.histogram[i]) << '\n';
  }
}

void print_band(BandStats const& stats, BandInfo const& band) {
  std::cout << "  band " << stats.band;
  if (!band.description.empty()) { std::cout << " (" << printable(band.description) << ')'; }
  double const percent =
      stats.total == 0 ? 0 : 100.0 * static_cast<double>(stats.valid) / static_cast<double>(stats.total);
  char valid_percent[32];
  std::snprintf(valid_percent, sizeof valid_percent, "%.4g %%", percent);
  std::cout << "\n    valid  " << format_count(stats.valid) << " of " << format_count(stats.total) << " pixels ("
            << valid_percent << ")\n";
  if (stats.valid == 0) { return; }
  std::cout << "    min    " << format_number(stats.minimum) << "\n    max    " << format_number(stats.maximum)
            << "\n    mean   " << format_number(stats.mean) << "\n    std    " << format_number(stats.stddev) << '\n';
  if (!stats.histogram.empty()) { print_histogram(stats); }
}

FileResult run_file(Options const& options, std::string const& file) {
  Dataset const dataset = open_file(file, options.common);
  ProgressBar bar("stats", options.common.quiet);
  StatsRequest request;
  request.read = make_request(dataset, options.selection, options.engine);
  request.read.progress = bar.callback();
  request.histogram_bins = options.bins;
  if (options.range) {
    request.histogram_min = options.range->first;
    request.histogram_max = options.range->second;
  }
  ReadReport report;
  std::vector<BandStats> const results = compute_stats(dataset, request, &report);
  if (options.common.json) {
    Json bands = Json::array();
    for (auto const& stats : results) { bands.push_back(band_to_json(stats)); }
    return {{{"file", file}, {"bands", std::move(bands)}, {"bad_tiles", bad_tiles_to_json(report.bad_tiles)}}};
  }
  std::cout << printable_name(file) << '\n';
  for (auto const& stats : results) { print_band(stats, dataset.info().bands.at(stats.band - 1)); }
  if (!options.common.quiet) { warn_of_bad_tiles(file, report.bad_tiles); }
  return {};
}

int run(Options const& options) {
  return run_each_file(options.files, options.common.json,
                       [&](std::string const& file) { return run_file(options, file); });
}

}  // namespace

void add_stats(CLI::App& app, Action& action) {
  auto const options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("stats", "Minimum, maximum, mean, deviation and histogram");
  command->footer(kFooter);
  add_files(*command, options->files);
  add_whole(*command, "--bins,--histogram", options->bins, "Bins of the histogram; 0: none; default 16");
  command
      ->add_option_function<std::string>(
          "--range", [options](std::string const& text) { options->range = parse_pair("--range", text, false); },
          "Range of the histogram; default: minimum to maximum")
      ->type_name("LO,HI");
  add_area(*command, options->selection);
  add_level(*command, options->selection);
  command->add_flag("--unpack", options->selection.unpack, "Apply the bands' scale and offset")->group("Pixels");
  add_tolerance(*command, options->selection);
  add_engine(*command, options->engine);
  add_device_tuning(*command, options->engine);
  add_common(*command, options->common);
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace terrazzo::cli
