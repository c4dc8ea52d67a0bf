// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include "interrupt.hpp"
#include "parse.hpp"

#include "terrazzo/settings.hpp"

#include <cmath>
#include <iostream>
#include <limits>
#include <string_view>

namespace terrazzo::cli {
namespace {

constexpr char kPixels[] = "Pixels";
constexpr char kGeneral[] = "General";
constexpr char kEngine[] = "Engine";

// Of "--level,--overview", the one that errors name.
std::string first_name(std::string const& names) {
  std::size_t const long_one = names.find("--");
  return names.substr(long_one, names.find(',', long_one) - long_one);
}

// An option whose text is turned into `target` by `parse(option, text)`.
template <class Target, class Parse>
CLI::Option* add_parsed(CLI::App& command, std::string const& name, Target& target, Parse const& parse,
                        std::string const& value_name, std::string const& description) {
  std::string const first = first_name(name);
  return command
      .add_option_function<std::string>(
          name, [&target, parse, first](std::string const& text) { target = parse(first, text); }, description)
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

bool talks(CommonOptions const& options) { return !options.quiet && !options.json; }

}  // namespace

CLI::Option* add_choice(CLI::App& command, std::string const& name, std::vector<std::string> const& names,
                        std::function<void(std::size_t)> const& choose, std::string const& description) {
  return command
      .add_option_function<std::string>(
          name, [=](std::string const& text) { choose(parse_choice(name, text, names)); }, description)
      ->type_name("NAME");
}

CLI::Option* add_whole(CLI::App& command, std::string const& name, std::uint32_t& target,
                       std::string const& description, std::uint32_t least, std::uint32_t most) {
  auto const parse = [least, most](std::string_view option, std::string_view text) {
    return static_cast<std::uint32_t>(parse_whole(option, text, least, most));
  };
  return add_parsed(command, name, target, parse, "N", description);
}

void add_file(CLI::App& command, std::string& file) {
  command.add_option("FILE", file, "A GeoTIFF or any other TIFF file")->required()->type_name("");
}

void add_common(CLI::App& command, CommonOptions& options) {
  command.add_flag("--json", options.json, "Print JSON, errors too")->group(kGeneral);
  command.add_flag("-q,--quiet", options.quiet, "No progress bar, no notes")->group(kGeneral);
  add_whole(command, "--threads", options.threads, "Threads to read with; 0 (default): TERRAZZO_THREADS, or all cores")
      ->group(kGeneral);
  add_parsed(command, "--memory-limit", options.memory_limit_bytes, parse_size, "SIZE",
             "Refuse reads that need more, e.g. 512M; 0 (default): TERRAZZO_MEMORY_LIMIT, or half of the memory")
      ->group(kGeneral);
  add_whole(command, "--page", options.open.page, "Directory (IFD) to open in a file of several images, from 0")
      ->group(kGeneral);
  command
      .add_flag_callback(
          "--no-sidecars", [&options] { options.open.sidecars = false; },
          "Do not look for .aux.xml, .ovr, .msk and world files")
      ->group(kGeneral);
  static constexpr Trust kLevels[] = {Trust::automatic, Trust::trusted, Trust::untrusted};
  add_choice(
      command, "--trust", {"auto", "trusted", "untrusted"},
      [&options](std::size_t index) { options.open.trust = kLevels[index]; },
      "May decoders that are not hardened see the file: auto, trusted or untrusted")
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
  add_whole(command, "--level,--overview", selection.level, "0: full resolution, 1: the largest overview, ...")
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
  command.add_flag("--unpack", selection.unpack, "Apply the bands' scale and offset; missing pixels stay missing")
      ->group(kPixels);
}

void add_tolerance(CLI::App& command, Selection& selection) {
  auto* fill = command.add_flag("--fill-bad", selection.fill_bad, "Fill tiles that cannot be decoded, and list them");
  auto* strict = command.add_flag("--strict", selection.strict, "Surplus data in a tile is an error too");
  fill->excludes(strict)->group(kPixels);
  strict->group(kPixels);
}

void add_engine(CLI::App& command, EngineOptions& engine) {
  auto* device = command
                     .add_flag_callback(
                         "--device", [&engine] { engine.engine = Engine::device; },
                         "Decode on the GPU; an error where there is none (`terrazzo doctor` says why)")
                     ->group(kEngine);
  command
      .add_flag_callback(
          "--host", [&engine] { engine.engine = Engine::host; },
          "Decode on the host's cores, whatever TERRAZZO_ENGINE says")
      ->excludes(device)
      ->group(kEngine);
  command
      .add_flag("--exact", engine.exact,
                "Decode lossy codecs (JPEG, ...) on the host, so that pixels do not depend on the engine")
      ->group(kEngine);
}

void add_device_tuning(CLI::App& command, EngineOptions& engine) {
  CLI::Option* const device = command.get_option("--device");
  add_parsed(
      command, "--device-budget", engine.device_budget_bytes, parse_size, "SIZE",
      "GPU memory beyond the result, e.g. 512M; 0 (default): TERRAZZO_DEVICE_BUDGET, or a quarter of what is free, "
      "8G at most")
      ->needs(device)
      ->group(kEngine);
  static constexpr DeviceFetch kWays[] = {DeviceFetch::automatic, DeviceFetch::ring, DeviceFetch::kvikio};
  add_choice(
      command, "--fetch", {"auto", "ring", "kvikio"},
      [&engine](std::size_t index) { engine.device_fetch = kWays[index]; },
      "How bytes get to the GPU: ring (threads, pinned memory), kvikio (GPUDirect Storage) or auto (default)")
      ->needs(device)
      ->group(kEngine);
}

DeviceState usable_device() {
  DeviceState state = device_state();
  if (!state.built) { throw Error(ErrorKind::unsupported, state.reason); }
  if (!state.usable) { throw Error(ErrorKind::device, "no GPU can be used: " + state.reason); }
  return state;
}

void apply_settings(CommonOptions const& options) {
  Settings in_force = settings();
  if (options.threads != 0) { in_force.threads = options.threads; }
  if (options.memory_limit_bytes != 0) { in_force.memory_limit_bytes = options.memory_limit_bytes; }
  set_settings(in_force);
  if (talks(options)) {
    set_log([](std::string_view message) { std::cerr << "terrazzo: note: " + std::string(message) + "\n"; });
  }
}

Dataset open_file(std::string const& file, CommonOptions const& options) {
  apply_settings(options);
  Dataset dataset = open(file, options.open);
  if (talks(options)) {
    for (auto const& warning : dataset.info().warnings) {
      std::cerr << "terrazzo: warning: " << file << ": " << warning << '\n';
    }
  }
  return dataset;
}

ReadRequest make_request(Dataset const& dataset, Selection const& selection, EngineOptions const& engine) {
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
  request.engine = engine.engine;
  request.exact = engine.exact;
  request.device_budget_bytes = engine.device_budget_bytes;
  request.device_fetch = engine.device_fetch;
  return request;
}

}  // namespace terrazzo::cli
