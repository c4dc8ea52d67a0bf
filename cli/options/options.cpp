// SPDX-License-Identifier: Apache-2.0
#include "options/options.hpp"

#include "interrupt.hpp"
#include "options/parse.hpp"
#include "options/standard_input.hpp"
#include "options/usage.hpp"
#include "output/format.hpp"
#include "output/notes.hpp"
#include "output/option_names.hpp"

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

// The name in "--level,--overview" that errors use.
std::string first_name(std::string const& names) {
  std::size_t const long_one = names.find("--");
  return names.substr(long_one, names.find(',', long_one) - long_one);
}

// An option whose text `parse(option, text)` converts to `target`.
template <class Target, class Parse>
CLI::Option* add_parsed(CLI::App& command, std::string const& name, Target& target, Parse const& parse,
                        std::string const& value_name, std::string const& description) {
  std::string const first = first_name(name);
  return command
      .add_option_function<std::string>(
          name, [&target, parse, first](std::string const& text) { target = parse(first, text); }, description)
      ->type_name(value_name);
}

// GDAL and rio-cogeo write "ALL_CPUS".
unsigned parse_threads(std::string_view option, std::string_view text) {
  if (lower_case(text) == "all_cpus") { return 0; }
  return static_cast<unsigned>(parse_whole(option, text, 0, std::numeric_limits<unsigned>::max()));
}

std::string words_of(GridWindow const& window) {
  return std::to_string(window.column) + "," + std::to_string(window.row) + "," + std::to_string(window.width) + "," +
         std::to_string(window.height);
}

bool talks(CommonOptions const& options) { return !options.quiet && !options.json; }

}  // namespace

CLI::Option* add_choice(CLI::App& command, std::string const& name, std::vector<std::string> const& names,
                        std::function<void(std::size_t)> const& choose, std::string const& description) {
  CLI::Option* const option =
      command
          .add_option_function<std::string>(
              name, [=](std::string const& text) { choose(parse_choice(name, text, names)); }, description)
          ->type_name("NAME");
  show_choices(*option, names);
  return option;
}

CLI::Option* add_method(CLI::App& command, std::string const& name, std::optional<Resampling>& method,
                        std::string const& description) {
  static std::vector<std::string> const kMethods{"nearest", "average", "bilinear", "cubic",  "cubic-spline", "lanczos",
                                                 "mode",    "min",     "max",      "median", "rms"};
  std::string names;
  for (std::string const& one : kMethods) { names += one + (&one == &kMethods.back() ? "; " : ", "); }
  return add_choice(
      command, name, kMethods, [&method](std::size_t i) { method = parse_resampling(kMethods[i]); },
      names + description);
}

// The names are kept as the name of a validator that accepts everything: CLI11's options have no other field for them.
void show_choices(CLI::Option& option, std::vector<std::string> const& names) {
  std::string joined;
  for (std::string const& name : names) { joined += (joined.empty() ? "" : "|") + name; }
  option.check(CLI::Validator([](std::string&) { return std::string(); }, "", std::move(joined)));
}

std::vector<std::string> choices_of(CLI::Option const& option) {
  std::string joined;
  try {
    // get_validator() lacks a const version.
    joined = const_cast<CLI::Option&>(option).get_validator(0)->get_name();
  } catch (CLI::OptionNotFound const&) { return {}; }
  return CLI::detail::split(joined, '|');
}

CLI::Option* add_whole(CLI::App& command, std::string const& name, std::uint32_t& target,
                       std::string const& description, std::uint32_t least, std::uint32_t most) {
  auto const parse = [least, most](std::string_view option, std::string_view text) {
    return static_cast<std::uint32_t>(parse_whole(option, text, least, most));
  };
  return add_parsed(command, name, target, parse, "N", description);
}

void add_file(CLI::App& command, std::string& file) {
  command.add_option("FILE", file, "A GeoTIFF or any other TIFF file; - for standard input")->required()->type_name("");
}

void add_files(CLI::App& command, std::vector<std::string>& files) {
  command.add_option("FILE", files, "GeoTIFF or TIFF files")->required()->type_name("");
  command.parse_complete_callback([&command, &files] { refuse_values_as_files(command, files); });
}

void add_common(CLI::App& command, CommonOptions& options) {
  command.add_flag("--json", options.json, "Print JSON, also for errors")->group(kGeneral);
  command.add_flag("-q,--quiet", options.quiet, "No progress bar, no notes")->group(kGeneral);
  add_parsed(command, "--threads", options.threads, parse_threads, "N",
             "Number of threads; 0 (default): TERRAZZO_THREADS, or all cores")
      ->group(kGeneral);
  add_parsed(command, "--memory-limit", options.memory_limit_bytes, parse_size, "SIZE",
             "Refuse reads that need more, e.g. 512M; 0 (default): TERRAZZO_MEMORY_LIMIT, or half of the memory")
      ->group(kGeneral);
  add_whole(command, "--page", options.open.page, "Directory (IFD) to open in a file with several images, from 0")
      ->group(kGeneral);
  command
      .add_flag_callback(
          "--no-sidecars", [&options] { options.open.sidecars = false; }, "Ignore .aux.xml, .ovr, .msk and world files")
      ->group(kGeneral);
  static constexpr Trust kLevels[] = {Trust::automatic, Trust::trusted, Trust::untrusted};
  add_choice(
      command, "--trust", {"auto", "trusted", "untrusted"},
      [&options](std::size_t index) { options.open.trust = kLevels[index]; },
      "Whether decoders that are not hardened may decode the file: auto, trusted or untrusted")
      ->group(kGeneral);
}

CLI::Option* add_bbox(CLI::App& command, Selection& selection) {
  auto* const bbox = add_parsed(command, "--bbox", selection.bbox, parse_bbox, "XMIN,YMIN,XMAX,YMAX",
                                "Only the pixels that this box touches, in coordinates of the file's CRS")
                         ->group(kPixels);
  add_parsed(command, "--bbox-crs", selection.bbox_crs, parse_crs_text, "CRS",
             "CRS of --bbox: EPSG:4326 (longitude first), WKT, PROJJSON")
      ->needs(bbox)
      ->group(kPixels);
  return bbox;
}

void add_area(CLI::App& command, Selection& selection) {
  auto* window = add_parsed(command, "--window", selection.window, parse_window, "COL,ROW,W,H",
                            "Only this rectangle, in pixels of the level (of full resolution with a target)")
                     ->group(kPixels);
  add_bbox(command, selection)->excludes(window);
  add_bands(command, selection);
}

CLI::Option* add_boundless(CLI::App& command, Selection& selection) {
  auto* const option = command
                           .add_flag("--boundless", selection.boundless,
                                     "--window or --bbox may reach outside the raster; pixels there are missing: "
                                     "nodata, or 0")
                           ->group(kPixels);
  for (char const* const other : {"--target-size", "--target-resolution"}) {
    option->excludes(command.get_option(other));
  }
  return option;
}

void add_bands(CLI::App& command, Selection& selection) {
  add_parsed(command, "--bands", selection.bands, parse_bands, "LIST", "1-based bands, in this order: 3,2,1 or 1-4")
      ->group(kPixels);
}

void add_level(CLI::App& command, Selection& selection) {
  add_whole(command, "--level,--overview", selection.level, "0: full resolution, 1: the largest overview, ...")
      ->group(kPixels);
}

CLI::Option* add_target_resolution(CLI::App& command, Selection& selection) {
  auto const parse = [](std::string_view option, std::string_view text) {
    auto const [x, y] = parse_pair(option, text, true);
    return TargetResolution{x, y};
  };
  return add_parsed(command, "--target-resolution", selection.target_resolution, parse, "R",
                    "Resample to exactly this pixel size, in units of the CRS (R or RX,RY); the extent "
                    "grows at its right and bottom to whole pixels")
      ->group(kPixels);
}

void add_target(CLI::App& command, Selection& selection) {
  auto* size = add_parsed(command, "--target-size", selection.target_size, parse_target_size, "W,H",
                          "Resample to this size, from the best overview")
                   ->group(kPixels);
  auto* resolution = add_target_resolution(command, selection);
  size->excludes(resolution);
  command
      .add_flag("--keep-extent", selection.keep_extent,
                "Keep the extent; the pixel size is the nearest to --target-resolution that fits")
      ->needs(resolution)
      ->group(kPixels);
  if (auto* level = command.get_option_no_throw("--level"); level != nullptr) {
    level->excludes(size);
    level->excludes(resolution);
  }
}

void add_target_resampling(CLI::App& command, Selection& selection) {
  add_method(command, "--resampling", selection.resampling, "How a target is made; default: nearest")->group(kPixels);
}

void add_dtype(CLI::App& command, Selection& selection) {
  add_parsed(command, "--dtype", selection.dtype, parse_dtype, "TYPE",
             "Convert samples: rounded and clamped as GDAL does")
      ->group(kPixels);
}

void add_conversion(CLI::App& command, Selection& selection) {
  add_dtype(command, selection);
  command.add_flag("--masked", selection.masked, "Missing pixels become NaN; integers become float64")->group(kPixels);
  auto* const unpack =
      command.add_flag("--unpack", selection.unpack, "Apply the bands' scale and offset; missing pixels stay missing")
          ->group(kPixels);
  add_parsed(command, "--scale", selection.scale, parse_scale, "SRC_MIN,SRC_MAX,DST_MIN,DST_MAX",
             "Map values linearly to this range, and clamp them to it; the type stays, missing pixels stay missing")
      ->excludes(unpack)
      ->group(kPixels);
}

void add_tolerance(CLI::App& command, Selection& selection) {
  auto* fill = command.add_flag("--fill-bad", selection.fill_bad, "Fill tiles that cannot be decoded, and list them");
  auto* strict = command.add_flag("--strict", selection.strict, "Surplus data in a tile is an error");
  fill->excludes(strict)->group(kPixels);
  strict->group(kPixels);
}

void add_engine(CLI::App& command, EngineOptions& engine) {
  auto* device = command
                     .add_flag_callback(
                         "--device", [&engine] { engine.engine = Engine::device; },
                         "Decode on the GPU; an error without one (`terrazzo doctor` shows the reason)")
                     ->group(kEngine);
  command
      .add_flag_callback(
          "--host", [&engine] { engine.engine = Engine::host; },
          "Decode on the host's cores; overrides TERRAZZO_ENGINE")
      ->excludes(device)
      ->group(kEngine);
  command
      .add_flag("--exact", engine.exact,
                "Decode lossy codecs (JPEG, ...) on the host, for the same pixels with both engines")
      ->group(kEngine);
}

void add_device_tuning(CLI::App& command, EngineOptions& engine) {
  CLI::Option* const device = command.get_option("--device");
  add_parsed(
      command, "--device-budget", engine.device_budget_bytes, parse_size, "SIZE",
      "GPU memory beyond the result, e.g. 512M; 0 (default): TERRAZZO_DEVICE_BUDGET, or a quarter of the free memory, "
      "at most 8G")
      ->needs(device)
      ->group(kEngine);
  static constexpr DeviceFetch kWays[] = {DeviceFetch::automatic, DeviceFetch::ring, DeviceFetch::kvikio};
  add_choice(
      command, "--fetch", {"auto", "ring", "kvikio"},
      [&engine](std::size_t index) { engine.device_fetch = kWays[index]; },
      "How bytes reach the GPU: ring (threads, pinned memory), kvikio (GPUDirect Storage) or auto (default)")
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
  show_notes(talks(options));
  if (talks(options)) {
    set_log([](std::string_view message) { note(with_option_names(message)); });
  }
}

Dataset open_file(std::string const& file, CommonOptions const& options) {
  apply_settings(options);
  Dataset dataset = is_standard_input(file)
                        ? open(memory_source(spool_standard_input(), "standard input"), options.open)
                        : open(file, options.open);
  show_warnings(file, dataset.info(), options);
  return dataset;
}

void show_warnings(std::string const& file, Info const& info, CommonOptions const& options) {
  if (!talks(options)) { return; }
  for (auto const& warning : info.warnings) {
    std::cerr << "terrazzo: warning: " << printable_name(file) << ": " << printable_name(warning) << '\n';
  }
}

BoundingBox selected_box(Dataset const& dataset, Selection const& selection) {
  BoundingBox const& box = selection.bbox.value();
  return selection.bbox_crs.empty() ? box : bbox_in(dataset.detailed_info(), box, selection.bbox_crs);
}

GridWindow selected_area(Dataset const& dataset, Selection const& selection) {
  Info const& info = dataset.info();
  if (selection.bbox) {
    BoundingBox const box = selected_box(dataset, selection);
    static_cast<void>(window_of(info, box, selection.level));  // a box outside is a mistake
    return grid_window_of(info, box, selection.level);
  }
  if (!selection.window) {
    throw Error(ErrorKind::usage, "--boundless needs --bbox or --window; type one of them too");
  }
  if (!part_inside(info, *selection.window, selection.level)) {
    throw Error(ErrorKind::usage, "--window " + words_of(*selection.window) + " lies outside the raster",
                {.source = info.source});
  }
  return *selection.window;
}

std::optional<Window> selected_window(Dataset const& dataset, Selection const& selection) {
  Info const& info = dataset.info();
  if (selection.boundless) { return part_inside(info, selected_area(dataset, selection), selection.level); }
  if (!selection.bbox && !selection.window) { return std::nullopt; }
  if (!selection.bbox) {
    auto const& [column, row, width, height] = *selection.window;
    if (column < 0 || row < 0) {
      throw Error(ErrorKind::usage,
                  "--window " + words_of(*selection.window) +
                      " begins outside the raster; only read, convert and cog take it, with --boundless",
                  {.source = info.source});
    }
    return Window{static_cast<std::uint32_t>(column), static_cast<std::uint32_t>(row), width, height};
  }
  BoundingBox const box = selected_box(dataset, selection);
  Window const window = window_of(info, box, selection.level);
  if (!covers(info, box)) { note(info.source + ": the box reaches outside the raster and is clipped"); }
  return window;
}

ReadRequest make_request(Dataset const& dataset, Selection const& selection, EngineOptions const& engine) {
  ReadRequest request;
  request.window = selected_window(dataset, selection);
  request.bands = selection.bands;
  request.level = selection.level;
  request.target_size = selection.target_size;
  request.target_resolution = selection.target_resolution;
  request.keep_extent = selection.keep_extent;
  if (selection.resampling && !request.has_target()) {
    throw Error(ErrorKind::usage,
                "--resampling is the method of --target-size or --target-resolution: give one of them");
  }
  request.resampling = selection.resampling.value_or(Resampling::nearest);
  request.dtype = selection.dtype;
  request.masked = selection.masked;
  request.unpack = selection.unpack;
  request.scale = selection.scale;
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
