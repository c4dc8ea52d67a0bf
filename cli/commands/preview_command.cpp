// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"
#include "commands/each_file.hpp"
#include "interrupt.hpp"
#include "options/options.hpp"
#include "options/output_name.hpp"
#include "options/parse.hpp"
#include "options/standard_input.hpp"
#include "output/exit_code.hpp"
#include "output/format.hpp"
#include "output/json_output.hpp"
#include "output/progress_bar.hpp"

#include "terrazzo/output_file.hpp"
#include "terrazzo/stats.hpp"

#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <system_error>
#include <tuple>

namespace terrazzo::cli {
namespace {

constexpr char kFooter[] =
    R"(Missing pixels are transparent. Values between two percentiles (--stretch) map to the range of shades, or values between
two numbers (--range), so that pictures of several files have the same shades. Values beyond are clamped. --gamma above
1 brightens the middle. 8-bit colour images are shown unchanged unless --style rgb, --range or --gamma changes them.
Large files are read through their overviews.

Styles: auto (colours for three bands or a palette, else gray), gray, rgb, colormap, hillshade.
Colormaps: viridis, magma, inferno, plasma, cividis, turbo, terrain, gray; viridis_r is viridis reversed. With
hillshade, a colormap tints the relief by height.

Examples:
  terrazzo preview photo.tif --out photo.png
  terrazzo preview dem.tif --out dem.png --style hillshade --colormap terrain --max-size 2000
  terrazzo preview temperature.tif --out t.png --style colormap --colormap magma --range -10,35
  terrazzo preview rgbn.tif --out false-colour.png --style rgb --bands 4,1,2
  terrazzo preview scenes/*.tif --out-dir pictures)";

struct Options {
  CommonOptions common;
  Selection selection;
  std::vector<std::string> files;
  std::string out, out_folder, colormap;
  PreviewRequest request;
  bool no_clobber = false;
};

FileResult run_file(Options const& options, std::string const& file, std::string const& out_name) {
  Dataset const dataset = open_file(file, options.common);
  PreviewRequest request = options.request;
  request.window = selected_window(dataset, options.selection);
  request.bands = options.selection.bands;
  if (!options.colormap.empty()) {
    request.colormap = options.colormap;
    // A colormap alone implies the style.
    if (request.style == PreviewStyle::automatic) { request.style = PreviewStyle::colormap; }
  } else if (request.style == PreviewStyle::hillshade) {
    request.colormap = "gray";
  }
  ProgressBar bar("preview", options.common.quiet);
  request.progress = bar.callback();
  request.cancel = cancel_flag();
  OutputFile out(out_name, cancel_flag());
  Picture const picture = make_preview(dataset, request);
  std::vector<std::uint8_t> const png = encode_png(picture);
  out.write(std::as_bytes(std::span(png)));
  out.publish();
  if (!options.common.json && !options.common.quiet && !is_standard_output(out_name)) {
    std::cout << printable_name(out_name) << ": " << format_size(picture.width, picture.height) << ", "
              << format_bytes(png.size()) << '\n';
  }
  return {.json = {{"file", file},
                   {"out", out_name},
                   {"width", picture.width},
                   {"height", picture.height},
                   {"bytes", png.size()}},
          .bytes_written = png.size()};
}

// The pictures of all files; NAME.png in the folder for NAME.tif. Throws `usage` if two files have one picture.
std::map<std::string, std::string> names_in_folder(Options const& options) {
  std::map<std::string, std::string> names;
  std::set<std::string> taken;
  for (std::string const& file : options.files) {
    if (is_standard_input(file)) {
      throw Error(ErrorKind::usage, "standard input has no name in a folder; type -o PATH");
    }
    std::filesystem::path const name = std::filesystem::path(options.out_folder) / std::filesystem::path(file).stem();
    std::string const out = name.string() + ".png";
    if (!taken.insert(out).second) { throw Error(ErrorKind::usage, "two files would be drawn to " + out); }
    names[file] = out;
  }
  return names;
}

int run(Options const& options) {
  if (options.out_folder.empty()) {
    if (options.out.empty() && options.files.size() == 2 && lower_case(options.files.back()).ends_with(".png")) {
      throw Error(ErrorKind::usage, "--out is missing; type \"--out " + options.files.back() + "\"");
    }
    if (options.out.empty()) {
      throw Error(ErrorKind::usage, "--out is missing; type --out NAME.png for one file, --out-dir FOLDER for several");
    }
    if (options.files.size() > 1) {
      throw Error(ErrorKind::usage, "-o is for one file; type --out-dir FOLDER for several");
    }
    check_png_name(options.out);
    if (options.no_clobber) { check_no_clobber(options.out); }
    FileResult const result = run_file(options, options.files.front(), options.out);
    if (options.common.json) { print_json_beside(result.json, is_standard_output(options.out)); }
    return result.code;
  }
  std::map<std::string, std::string> const names = names_in_folder(options);
  for (auto const& [file, out] : names) {
    if (options.no_clobber) { check_no_clobber(out); }
  }
  std::error_code error;
  std::filesystem::create_directories(options.out_folder, error);
  if (error) {
    throw Error(ErrorKind::io, "cannot make the folder: " + error.message(), {.source = options.out_folder});
  }
  return run_each_file(
      options.files, options.common.json,
      [&](std::string const& file) { return run_file(options, file, names.at(file)); },
      options.common.quiet ? std::nullopt : std::optional(FinalTable{}));
}

}  // namespace

void add_preview(CLI::App& app, Action& action) {
  auto const options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("preview", "Draw a PNG");
  command->footer(kFooter);
  add_files(*command, options->files);
  auto* const out =
      command->add_option("-o,--out", options->out, "The PNG file, NAME.png, for one FILE; - for standard output")
          ->type_name("PATH");
  command->add_option("--out-dir", options->out_folder, "The folder for NAME.png of each FILE, created if needed")
      ->type_name("FOLDER")
      ->excludes(out);
  add_no_clobber(*command, options->no_clobber);
  add_whole(*command, "--max-size", options->request.max_size, "Longer side in pixels; default 1024", 1);
  static constexpr PreviewStyle kStyles[] = {PreviewStyle::automatic, PreviewStyle::gray, PreviewStyle::rgb,
                                             PreviewStyle::colormap, PreviewStyle::hillshade};
  add_choice(
      *command, "--style", {"auto", "gray", "rgb", "colormap", "hillshade"},
      [options](std::size_t index) { options->request.style = kStyles[index]; },
      "auto, gray, rgb, colormap or hillshade");
  std::string names;
  for (std::string const& name : colormap_names()) { names += (names.empty() ? "" : ", ") + name; }
  CLI::Option* const colormap =
      command
          ->add_option_function<std::string>(
              "--colormap", [options](std::string const& name) { options->colormap = lower_case(name); },
              names + "; with _r at the end, reversed")
          ->type_name("NAME");
  show_choices(*colormap, colormap_names());
  auto* const stretch = command
                            ->add_option_function<std::string>(
                                "--stretch",
                                [options](std::string const& text) {
                                  std::tie(options->request.stretch_low, options->request.stretch_high) =
                                      parse_pair("--stretch", text, false);
                                },
                                "Percentiles that map to black and white; default 2,98")
                            ->type_name("LO,HI");
  command
      ->add_option_function<std::string>(
          "--range",
          [options](std::string const& text) {
            std::tie(options->request.range_min, options->request.range_max) = parse_pair("--range", text, false);
          },
          "Values that map to black and white, as stored in the file (hillshade: unpacked)")
      ->type_name("MIN,MAX")
      ->excludes(stretch);
  command->add_option("--gamma", options->request.gamma, "Shade = fraction^(1/G): above 1 is brighter; default 1")
      ->type_name("G");
  add_area(*command, options->selection);
  add_common(*command, options->common);
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace terrazzo::cli
