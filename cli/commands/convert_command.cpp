// SPDX-License-Identifier: Apache-2.0
#include "batch/conversion_batch.hpp"
#include "commands/commands.hpp"
#include "commands/conversion_json.hpp"
#include "interrupt.hpp"
#include "options/options.hpp"
#include "options/output_name.hpp"
#include "options/write_options.hpp"
#include "output/errors.hpp"
#include "output/exit_code.hpp"
#include "output/format.hpp"
#include "output/json_output.hpp"
#include "output/progress_bar.hpp"

#include "terrazzo/convert.hpp"
#include "terrazzo/output_file.hpp"

#include <chrono>
#include <iostream>
#include <memory>

namespace terrazzo::cli {
namespace {

constexpr char kFooter[] =
    R"(Georeference, nodata, colours, masks and metadata are copied; the georeference is shifted to a window. The file
appears under its name complete or not at all. -o - writes to standard output. With --out-dir, outputs that are newer
than their sources and were written with the same options are skipped; a file that fails does not stop the others.

Examples:
  terrazzo convert scan.tif -o dem.tif                                      zstd, 512 px tiles
  terrazzo convert dem.tif -o small.tif --window 0,0,1024,1024              a part
  terrazzo convert dem.tif -o box.tif --window -20,-20,512,512 --boundless  beyond the edge: nodata
  terrazzo convert dem.tif -o dem16.tif --dtype int16 --nodata -32768       other samples
  terrazzo convert rgb.tif -o rgb.tif --compression jpeg --quality 85       in place, lossy
  terrazzo convert dem.tif -o dem.tif --compression lerc-zstd --max-error 0.01
  terrazzo convert dem.tif -o dem8.tif --dtype uint8 --scale 0,3000,1,255 --nodata 0
  terrazzo convert scenes/ --out-dir small --compression deflate --jobs 4   many files
  terrazzo convert dem.tif -o fast.tif --device                             on the GPU, the same pixels)";

struct Options {
  CommonOptions common;
  Selection selection;
  WriteChoices choices;
  ConversionFiles files;
};

ConvertSetup make_setup(Options const& options, Dataset const& dataset) {
  ConvertSetup setup;
  setup.read = make_request(dataset, options.selection);
  apply_engine(options.choices, setup.read);
  setup.write = conversion_options(dataset, setup.read);
  apply_choices(options.choices, setup.write);
  apply_resampling(options.choices, setup.read, setup.write);
  if (options.selection.boundless) { extend_to(setup, selected_area(dataset, options.selection)); }
  return setup;
}

int run_single(Options const& options) {
  auto const started = std::chrono::steady_clock::now();
  std::string const& file = options.files.inputs.front();
  std::string const& out = options.files.out;
  check_tiff_name(out);
  if (options.files.no_clobber) { check_no_clobber(out); }
  Dataset const dataset = open_file(file, options.common);
  ConvertSetup setup = make_setup(options, dataset);
  ProgressBar bar("convert", options.common.quiet);
  setup.write.progress = bar.callback();
  setup.write.cancel = cancel_flag();
  setup.write.threads = options.common.threads;
  ConvertReport const report = convert(dataset, out, setup);
  double const seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  bool const stdout_taken = is_standard_output(out);
  if (options.common.json) {
    Json json{{"file", file}, {"out", out}};
    json.update(conversion_to_json(report, seconds));
    print_json_beside(json, stdout_taken);
  } else if (!options.common.quiet && !stdout_taken) {
    std::cout << printable_name(out) << ": " << format_bytes(report.write.bytes_written) << ", "
              << to_string(setup.write.compression) << ", in " << format_seconds(seconds) << '\n';
  }
  if (!options.common.json && !options.common.quiet) { warn_of_bad_tiles(file, report.read.bad_tiles); }
  return kExitOk;
}

int run(Options const& options, std::string const& options_text) {
  if (is_single(options.files)) { return run_single(options); }
  return run_batch(options.files, options.common,
                   {.label = "convert", .options_text = options_text, .setup = [&](Dataset const& dataset) {
                      return make_setup(options, dataset);
                    }});
}

}  // namespace

void add_convert(CLI::App& app, Action& action) {
  auto const options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("convert", "Convert any readable file to a GeoTIFF");
  command->footer(kFooter);
  add_conversion_files(*command, options->files);
  add_conversion_choices(*command, options->choices, options->selection, true);
  command->get_option("--overview-resampling")->needs(command->get_option("--overviews"));
  add_common(*command, options->common);
  command->callback([options, command, &action] {
    action = [options, text = options_text(*command)] { return run(*options, text); };
  });
}

}  // namespace terrazzo::cli
