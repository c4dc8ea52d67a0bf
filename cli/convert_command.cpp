// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"
#include "conversion_json.hpp"
#include "errors.hpp"
#include "exit_code.hpp"
#include "format.hpp"
#include "interrupt.hpp"
#include "json_output.hpp"
#include "options.hpp"
#include "progress_bar.hpp"
#include "write_options.hpp"

#include "terrazzo/convert.hpp"
#include "terrazzo/output_file.hpp"

#include <chrono>
#include <iostream>
#include <memory>

namespace terrazzo::cli {
namespace {

constexpr char kFooter[] =
    R"(Georeference, nodata, colours, masks and metadata go along; a window's georeference is moved to it. The file
appears whole under its name at the end, or not at all. -o - writes to standard output.

Examples:
  terrazzo convert scan.tif -o dem.tif                                      zstd, 512 px tiles
  terrazzo convert dem.tif -o small.tif --window 0,0,1024,1024              a part
  terrazzo convert dem.tif -o dem16.tif --dtype int16 --nodata -32768       other samples
  terrazzo convert rgb.tif -o rgb.tif --compression jpeg --quality 85       in place, lossy
  terrazzo convert dem.tif -o dem.tif --compression lerc-zstd --max-error 0.01
  terrazzo convert dem.tif -o fast.tif --device                             by the GPU, the same pixels)";

struct Options {
  CommonOptions common;
  Selection selection;
  WriteChoices choices;
  std::string file, out;
};

int run(Options const& options) {
  auto const started = std::chrono::steady_clock::now();
  Dataset const dataset = open_file(options.file, options.common);
  ReadRequest request = make_request(dataset, options.selection);
  apply_engine(options.choices, request);
  WriteOptions write = conversion_options(dataset, request);
  apply_choices(options.choices, write);
  ProgressBar bar("convert", options.common.quiet);
  write.progress = bar.callback();
  write.cancel = cancel_flag();
  write.threads = options.common.threads;
  ConvertReport const report = convert(dataset, options.out, write, request);
  double const seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  bool const stdout_taken = is_standard_output(options.out);
  if (options.common.json) {
    Json json{{"file", options.file}, {"out", options.out}};
    json.update(conversion_to_json(report, seconds));
    print_json_beside(json, stdout_taken);
  } else if (!options.common.quiet && !stdout_taken) {
    std::cout << options.out << ": " << format_bytes(report.write.bytes_written) << ", " << to_string(write.compression)
              << ", in " << format_seconds(seconds) << '\n';
  }
  if (!options.common.json && !options.common.quiet) { warn_of_bad_tiles(options.file, report.read.bad_tiles); }
  return kExitOk;
}

}  // namespace

void add_convert(CLI::App& app, Action& action) {
  auto const options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("convert", "Any readable file into a GeoTIFF");
  command->footer(kFooter);
  add_file(*command, options->file);
  command->add_option("-o,--out", options->out, "The file to write; - for standard output")
      ->required()
      ->type_name("PATH");
  add_conversion_choices(*command, options->choices, options->selection, true);
  command->get_option("--resampling")->needs(command->get_option("--overviews"));
  add_common(*command, options->common);
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace terrazzo::cli
