// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"
#include "commands/point_lines.hpp"
#include "commands/sample_text.hpp"
#include "options/options.hpp"
#include "options/parse.hpp"
#include "options/standard_input.hpp"
#include "output/exit_code.hpp"
#include "output/format.hpp"
#include "output/json_output.hpp"
#include "output/progress_bar.hpp"

#include "terrazzo/coordinates.hpp"
#include "terrazzo/error.hpp"
#include "terrazzo/sample.hpp"

#include <cerrno>
#include <cmath>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace terrazzo::cli {
namespace {

// Points that are sampled together: memory stays bounded for a file of any length.
constexpr std::size_t kPointsAtOnce = std::size_t{1} << 20;

constexpr char kFooter[] =
    R"(Prints one CSV line per point, in the order of the points: x,y and a value per band, of the pixel that contains the
point. Points outside the raster have empty values, missing pixels have the value "nodata". A file of points has X,Y on
each line; further columns, empty lines, comments (#) and a first line of names are ignored. Names of coordinates in the
first line (x and y, lon and lat, longitude and latitude, easting and northing) choose the columns.

Examples:
  terrazzo sample dem.tif --at 500010,4199990                        one point, in the file's CRS
  terrazzo sample dem.tif --at 9.25,45.3 --crs EPSG:4326             longitude, latitude
  terrazzo sample dem.tif --points huts.csv --bands 1 > heights.csv  many points
  cat huts.csv | terrazzo sample dem.tif --points - --json           from a pipe)";

struct Options {
  CommonOptions common;
  Selection selection;
  std::string file, points, crs;
  std::vector<Point> at;
};

class Output {
 public:
  Output(std::string const& file, Dataset const& dataset, ReadRequest const& request,
         std::vector<std::uint32_t> const& bands, bool json)
      : info_(dataset.info()), level_(request.level), json_(json) {
    if (json_) {
      std::string head = to_line({{"file", file},
                                  {"level", request.level},
                                  {"bands", bands},
                                  {"dtype", to_string(result_dtype(dataset, request))},
                                  {"points", Json::array()}});
      head.resize(head.size() - 2);  // the points follow
      std::cout << head;
    } else {
      std::cout << "x,y";
      for (std::uint32_t const band : bands) { std::cout << ",band_" << band; }
      std::cout << '\n';
    }
  }

  // `given` are the points as the user typed them, `own` the same in the raster's CRS.
  void print(std::span<Point const> given, std::span<Point const> own, SampleResult const& samples) {
    for (std::size_t i = 0; i < given.size(); ++i) {
      std::cout << (json_ ? json_line(given[i], own[i], samples, i) : csv_line(given[i], samples, i));
      if (!std::cout) { return; }
    }
  }

  void finish() const {
    if (json_) { std::cout << (any_ ? "\n]}\n" : "]}\n"); }
  }

 private:
  static std::string csv_line(Point const& point, SampleResult const& samples, std::size_t index) {
    std::string line = format_number(point.x) + ',' + format_number(point.y);
    for (std::uint32_t band = 0; band < samples.values.bands(); ++band) {
      line += ',' + sample_to_text(samples, band, index);
    }
    return line + '\n';
  }

  std::string json_line(Point const& given, Point const& own, SampleResult const& samples, std::size_t index) {
    bool const inside = samples.state(0, index) != SampleState::outside;
    Json values = Json::array();
    for (std::uint32_t band = 0; band < samples.values.bands(); ++band) {
      values.push_back(sample_to_json(samples, band, index));
    }
    Pixel const pixel = inside ? pixel_of(own) : Pixel{};
    return std::string(std::exchange(any_, true) ? ",\n" : "\n") +
           to_line({{"x", given.x},
                    {"y", given.y},
                    {"column", inside ? Json(static_cast<std::uint32_t>(pixel.column)) : Json()},
                    {"row", inside ? Json(static_cast<std::uint32_t>(pixel.row)) : Json()},
                    {"inside", inside},
                    {"values", std::move(values)}});
  }

  // In pixels of the level.
  [[nodiscard]] Pixel pixel_of(Point const& own) const {
    Pixel pixel = to_pixel(info_, own);
    if (level_ == 0) { return pixel; }
    OverviewInfo const& overview = info_.overviews[level_ - 1];
    pixel.column *= static_cast<double>(overview.width) / info_.width;
    pixel.row *= static_cast<double>(overview.height) / info_.height;
    return pixel;
  }

  Info const& info_;
  std::uint32_t level_;
  bool json_;
  bool any_ = false;
};

int run(Options const& options) {
  if (options.at.empty() == options.points.empty()) {
    throw Error(ErrorKind::usage, "sample needs points; type \"--at X,Y\" or \"--points FILE\"");
  }
  if (is_standard_input(options.file) && is_standard_input(options.points)) {
    throw Error(ErrorKind::usage, "FILE and --points cannot both be standard input; type the name of one of them");
  }
  Dataset const dataset = open_file(options.file, options.common);
  ReadRequest request = make_request(dataset, options.selection);
  DType const stored = result_dtype(dataset, request);
  if (printed_dtype(stored) != stored) { request.dtype = printed_dtype(stored); }
  std::vector<std::uint32_t> const bands = plan(dataset, request).bands();
  std::optional<Info> const detailed = options.crs.empty() ? std::nullopt : std::optional(dataset.detailed_info());

  std::ifstream file;
  bool const from_file = !options.points.empty() && !is_standard_input(options.points);
  if (from_file) {
    file.open(options.points);
    if (!file) { throw Error(ErrorKind::io, std::generic_category().message(errno), {.source = options.points}); }
  }
  PointLines lines(from_file ? file : std::cin, from_file ? options.points : "standard input");
  bool const listed = !options.at.empty();

  ProgressBar bar("sample", options.common.quiet);
  request.progress = bar.callback();
  std::optional<Output> output;
  for (std::vector<Point> given = listed ? options.at : lines.next(kPointsAtOnce);; given = lines.next(kPointsAtOnce)) {
    std::vector<Point> const own = detailed ? points_in(*detailed, given, options.crs) : given;
    SampleResult const samples = sample(dataset, own, request);
    if (!output) { output.emplace(options.file, dataset, request, bands, options.common.json); }
    output->print(given, own, samples);
    if (listed || given.size() < kPointsAtOnce || !std::cout) { break; }
  }
  output->finish();
  return kExitOk;
}

}  // namespace

void add_sample(CLI::App& app, Action& action) {
  auto const options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("sample", "Print the pixels at points");
  command->footer(kFooter);
  add_file(*command, options->file);
  auto* at = command
                 ->add_option_function<std::vector<std::string>>(
                     "--at",
                     [options](std::vector<std::string> const& texts) {
                       for (std::string const& text : texts) { options->at.push_back(parse_point("--at", text)); }
                     },
                     "A point; may be repeated")
                 ->type_name("X,Y")
                 ->take_all()
                 ->expected(1)
                 ->allow_extra_args(false);
  command->add_option("--points", options->points, "A CSV file with X,Y on each line; - for standard input")
      ->type_name("FILE")
      ->excludes(at);
  command
      ->add_option_function<std::string>(
          "--crs", [options](std::string const& text) { options->crs = parse_crs_text("--crs", text); },
          "CRS of the points: EPSG:4326 (longitude first), WKT, PROJJSON; default: the file's")
      ->type_name("CRS");
  add_bands(*command, options->selection);
  add_level(*command, options->selection);
  command->add_flag("--unpack", options->selection.unpack, "Apply the bands' scale and offset")->group("Pixels");
  add_common(*command, options->common);
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace terrazzo::cli
