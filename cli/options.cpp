// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include "interrupt.hpp"
#include "parse.hpp"

#include "terrazzo/settings.hpp"

#include <cmath>
#include <iostream>
#include <limits>
#include <map>
#include <string_view>

namespace terrazzo::cli {
namespace {

constexpr char kPixels[] = "Pixels";
constexpr char kGeneral[] = "General";

// An option whose text is turned into `target` by `parse(option, text)`.
template <class Target, class Parse>
CLI::Option* add_parsed(CLI::App& command, std::string const& name, Target& target, Parse const& parse,
                        std::string const& value_name, std::string const& description) {
  return command
      .add_option_function<std::string>(
          name, [&target, parse, name](std::string const& text) { target = parse(name, text); }, description)
      ->type_name(value_name);
}

std::uint32_t to_pixels(double pixels) {
  if (!(pixels < std::numeric_limits<std::uint32_t>::max())) {
    throw Error(ErrorKind::usage,
                "--target-resolution is so fine that the result would have more than 4294967295 columns or rows");
  }
  return std::max<std::uint32_t>(1, static_cast<std::uint32_t>(std::lround(pixels)));
}

TargetSize size_at_resolution(Info const& info, Selection const& selection) {
  auto const& transform = info.georeference.transform;
  if (!transform) {
    throw Error(ErrorKind::usage, "--target-resolution needs a georeferenced file; use --target-size",
                {.source = info.source});
  }
  auto const& t = *transform;
  auto const [x, y] = *selection.target_resolution;
  if (!(x > 0 && y > 0)) { throw Error(ErrorKind::usage, "--target-resolution must be above 0"); }
  Window const window = selection.window.value_or(Window{0, 0, info.width, info.height});
  return {to_pixels(window.width * std::hypot(t[1], t[4]) / x), to_pixels(window.height * std::hypot(t[2], t[5]) / y)};
}

}  // namespace

void add_file(CLI::App& command, std::string& file) {
  command.add_option("FILE", file, "A GeoTIFF or any other TIFF file")->required()->type_name("");
}

void add_common(CLI::App& command, CommonOptions& options) {
  command.add_flag("--json", options.json, "Print JSON, errors too")->group(kGeneral);
  command.add_flag("-q,--quiet", options.quiet, "No progress bar, no notes")->group(kGeneral);
  command.add_option("--threads", options.threads, "Threads to read with; 0: all cores")
      ->type_name("N")
      ->group(kGeneral);
  add_parsed(command, "--memory-limit", options.memory_limit_bytes, parse_size, "SIZE",
             "Refuse reads that need more, e.g. 512M; default: half of the machine's memory")
      ->group(kGeneral);
  command.add_option("--page", options.open.page, "Directory (IFD) to open in a file of several images, from 0")
      ->type_name("N")
      ->group(kGeneral);
  command
      .add_flag_callback(
          "--no-sidecars", [&options] { options.open.sidecars = false; },
          "Do not look for .aux.xml, .ovr, .msk and world files")
      ->group(kGeneral);
  std::map<std::string, Trust> const names{
      {"auto", Trust::automatic}, {"trusted", Trust::trusted}, {"untrusted", Trust::untrusted}};
  command
      .add_option_function<std::string>(
          "--trust", [&options, names](std::string const& name) { options.open.trust = names.at(name); },
          "May decoders that are not hardened see the file: auto, trusted or untrusted")
      ->check(CLI::IsMember(names))
      ->type_name("LEVEL")
      ->group(kGeneral);
}

void add_area(CLI::App& command, Selection& selection) {
  add_parsed(command, "--window", selection.window, parse_window, "COL,ROW,W,H",
             "Only this rectangle, in pixels of the level that is read (of full resolution with a target)")
      ->group(kPixels);
  add_parsed(command, "--bands", selection.bands, parse_bands, "LIST", "Bands from 1, in this order: 3,2,1 or 1-4")
      ->group(kPixels);
}

void add_level(CLI::App& command, Selection& selection) {
  command.add_option("--level,--overview", selection.level, "0: full resolution, 1: the largest overview, ...")
      ->type_name("N")
      ->group(kPixels);
}

void add_target(CLI::App& command, Selection& selection) {
  auto* size = add_parsed(command, "--target-size", selection.target_size, parse_target_size, "W,H",
                          "Resample to this size, from the best overview (nearest neighbour)")
                   ->group(kPixels);
  auto const parse = [](std::string_view option, std::string_view text) { return parse_pair(option, text, true); };
  auto* resolution = add_parsed(command, "--target-resolution", selection.target_resolution, parse, "R",
                                "Resample to pixels of this size, in units of the CRS (R or RX,RY)")
                         ->group(kPixels);
  size->excludes(resolution);
  if (auto* level = command.get_option_no_throw("--level"); level != nullptr) {
    level->excludes(size);
    level->excludes(resolution);
  }
}

void add_conversion(CLI::App& command, Selection& selection) {
  add_parsed(command, "--dtype", selection.dtype, parse_dtype, "TYPE",
             "Convert samples: rounded and clamped as GDAL does")
      ->group(kPixels);
  command.add_flag("--masked", selection.masked, "Missing pixels become NaN; integers become float64")->group(kPixels);
  command.add_flag("--unpack", selection.unpack, "Apply the bands' scale and offset")->group(kPixels);
}

void add_tolerance(CLI::App& command, Selection& selection) {
  auto* fill = command.add_flag("--fill-bad", selection.fill_bad, "Fill tiles that cannot be decoded, and list them");
  auto* strict = command.add_flag("--strict", selection.strict, "Surplus data in a tile is an error too");
  fill->excludes(strict)->group(kPixels);
  strict->group(kPixels);
}

Dataset open_file(std::string const& file, CommonOptions const& options) {
  Settings in_force = settings();
  if (options.threads != 0) { in_force.threads = options.threads; }
  if (options.memory_limit_bytes != 0) { in_force.memory_limit_bytes = options.memory_limit_bytes; }
  set_settings(in_force);
  bool const talk = !options.quiet && !options.json;
  if (talk) {
    set_log([](std::string_view message) { std::cerr << "terrazzo: note: " + std::string(message) + "\n"; });
  }
  Dataset dataset = open(file, options.open);
  if (talk) {
    for (auto const& warning : dataset.info().warnings) {
      std::cerr << "terrazzo: warning: " << file << ": " << warning << '\n';
    }
  }
  return dataset;
}

ReadRequest make_request(Dataset const& dataset, Selection const& selection) {
  ReadRequest request;
  request.window = selection.window;
  request.bands = selection.bands;
  request.level = selection.level;
  request.target_size = selection.target_size;
  if (selection.target_resolution) { request.target_size = size_at_resolution(dataset.info(), selection); }
  request.dtype = selection.dtype;
  request.masked = selection.masked;
  request.unpack = selection.unpack;
  request.bad_tile = selection.fill_bad ? BadTile::fill : BadTile::error;
  request.strict = selection.strict;
  request.cancel = cancel_flag();
  return request;
}

}  // namespace terrazzo::cli
