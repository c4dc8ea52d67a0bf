// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"
#include "exit_code.hpp"
#include "format.hpp"
#include "interrupt.hpp"
#include "json_output.hpp"
#include "options.hpp"
#include "parse.hpp"
#include "progress_bar.hpp"

#include "terrazzo/output_file.hpp"
#include "terrazzo/stats.hpp"

#include <iostream>
#include <memory>
#include <span>
#include <tuple>

namespace terrazzo::cli {
namespace {

constexpr char kFooter[] =
    R"(Missing pixels are transparent. Values between two percentiles (--stretch) become the range of shades; 8-bit
colour images are shown as they are unless --style rgb asks for a stretch. A large file is read through its overviews.

Styles: auto (colours if there are three bands or a palette, else gray), gray, rgb, colormap, hillshade.
Colormaps: viridis, magma, terrain, gray. With hillshade, a colormap tints the relief by height.

Examples:
  terrazzo preview photo.tif --out photo.png
  terrazzo preview dem.tif --out dem.png --style hillshade --colormap terrain --max-size 2000
  terrazzo preview temperature.tif --out t.png --style colormap --colormap magma --stretch 1,99
  terrazzo preview rgbn.tif --out false-colour.png --style rgb --bands 4,1,2)";

struct Options {
  CommonOptions common;
  Selection selection;
  std::string file, out, colormap;
  PreviewRequest request;
};

// The picture is a PNG whatever its name; another name would fool the next program.
void check_name(std::string const& out) {
  if (!is_standard_output(out) && !lower_case(out).ends_with(".png")) {
    std::size_t const name = out.rfind('/') + 1;  // 0 without a folder
    std::size_t const dot = out.rfind('.');
    bool const has_end = dot != std::string::npos && dot > name;
    throw Error(ErrorKind::usage, "preview writes PNG only, and --out \"" + out +
                                      "\" does not end in .png; type --out \"" + (has_end ? out.substr(0, dot) : out) +
                                      ".png\"");
  }
}

int run(Options const& options) {
  check_name(options.out);
  Dataset const dataset = open_file(options.file, options.common);
  PreviewRequest request = options.request;
  request.window = options.selection.window;
  request.bands = options.selection.bands;
  if (!options.colormap.empty()) {
    request.colormap = options.colormap;
    // A colormap alone says what is wanted.
    if (request.style == PreviewStyle::automatic) { request.style = PreviewStyle::colormap; }
  } else if (request.style == PreviewStyle::hillshade) {
    request.colormap = "gray";
  }
  ProgressBar bar("preview", options.common.quiet);
  request.progress = bar.callback();
  request.cancel = cancel_flag();
  OutputFile out(options.out, cancel_flag());
  Picture const picture = make_preview(dataset, request);
  std::vector<std::uint8_t> const png = encode_png(picture);
  out.write(std::as_bytes(std::span(png)));
  out.publish();
  bool const stdout_taken = is_standard_output(options.out);
  if (options.common.json) {
    print_json_beside({{"file", options.file},
                       {"out", options.out},
                       {"width", picture.width},
                       {"height", picture.height},
                       {"bytes", png.size()}},
                      stdout_taken);
  } else if (!options.common.quiet && !stdout_taken) {
    std::cout << options.out << ": " << format_size(picture.width, picture.height) << ", " << format_bytes(png.size())
              << '\n';
  }
  return kExitOk;
}

}  // namespace

void add_preview(CLI::App& app, Action& action) {
  auto const options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("preview", "A PNG to look at");
  command->footer(kFooter);
  add_file(*command, options->file);
  command->add_option("-o,--out", options->out, "The PNG file, NAME.png; - for standard output")
      ->required()
      ->type_name("PATH");
  add_whole(*command, "--max-size", options->request.max_size, "Longer side in pixels; default 1024", 1);
  static constexpr PreviewStyle kStyles[] = {PreviewStyle::automatic, PreviewStyle::gray, PreviewStyle::rgb,
                                             PreviewStyle::colormap, PreviewStyle::hillshade};
  add_choice(
      *command, "--style", {"auto", "gray", "rgb", "colormap", "hillshade"},
      [options](std::size_t index) { options->request.style = kStyles[index]; },
      "auto, gray, rgb, colormap or hillshade");
  command->add_option("--colormap", options->colormap, "viridis, magma, terrain or gray")->type_name("NAME");
  command
      ->add_option_function<std::string>(
          "--stretch",
          [options](std::string const& text) {
            std::tie(options->request.stretch_low, options->request.stretch_high) =
                parse_pair("--stretch", text, false);
          },
          "Percentiles that become black and white; default 2,98")
      ->type_name("LO,HI");
  add_area(*command, options->selection);
  add_common(*command, options->common);
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace terrazzo::cli
