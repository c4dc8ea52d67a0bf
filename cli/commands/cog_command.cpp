// SPDX-License-Identifier: Apache-2.0
#include "batch/conversion_batch.hpp"
#include "commands/commands.hpp"
#include "interrupt.hpp"
#include "options/options.hpp"
#include "options/output_name.hpp"
#include "options/tiling_options.hpp"
#include "options/write_options.hpp"
#include "output/exit_code.hpp"
#include "output/json_output.hpp"
#include "output/progress_bar.hpp"

#include "terrazzo/convert.hpp"
#include "terrazzo/output_file.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace terrazzo::cli {
namespace {

constexpr char kFooter[] =
    R"(Every file is written in one pass, with overviews, and is a valid COG. With --out-dir, outputs that are newer than
their sources and were written with the same options are skipped, so an interrupted run can be resumed; a file that
fails does not stop the others. A folder stands for all TIFF files in it.

Examples:
  terrazzo cog dem.tif -o dem_cog.tif
  terrazzo cog dem.tif -o dem_cog.tif --compression deflate --resampling cubic
  terrazzo cog dem.tif -o dem_cog.tif --device                       on the GPU, the same pixels
  terrazzo cog map.tif -o tiles.tif --tiling-scheme GoogleMapsCompatible    whole tiles of web maps
  terrazzo cog scenes/*.tif more/ --out-dir cogs --jobs 4)";

struct Options {
  CommonOptions common;
  Selection selection;
  WriteChoices choices;
  ConversionFiles files;
  TilingChoices tiling;
};

ConvertSetup make_setup(Options const& options, Dataset const& dataset) {
  ConvertSetup setup;
  setup.read = make_request(dataset, options.selection);
  apply_engine(options.choices, setup.read);
  setup.write = conversion_options(dataset, setup.read);
  setup.write.cog = true;
  apply_choices(options.choices, setup.write);
  if (!options.tiling.scheme) { apply_resampling(options.choices, setup.read, setup.write); }
  make_alpha_the_mask(dataset, setup.read, setup.write);
  if (options.selection.boundless) { extend_to(setup, selected_area(dataset, options.selection)); }
  if (options.tiling.scheme) { align_to_web_tiles(dataset, setup, web_tiles(options.tiling, options.choices)); }
  return setup;
}

int run_single(Options const& options) {
  auto const started = std::chrono::steady_clock::now();
  ConvertJob const job{options.files.inputs.front(), options.files.out};
  check_tiff_name(job.out);
  if (options.files.no_clobber) { check_no_clobber(job.out); }
  Dataset const dataset = open_file(job.source, options.common);
  ConvertSetup setup = make_setup(options, dataset);
  ProgressBar bar("cog", options.common.quiet);
  bar.set_bytes(plan(dataset, setup.read).result_bytes());
  setup.write.progress = bar.callback();
  setup.write.cancel = cancel_flag();
  setup.write.threads = options.common.threads;
  ConvertOutcome outcome;
  outcome.report = convert(dataset, job.out, setup);
  outcome.state = ConvertState::done;
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  bar.clear();
  if (options.common.json) {
    print_json_beside(outcome_to_json(job, outcome), is_standard_output(job.out));
  } else if (!options.common.quiet) {
    print_done(job, outcome);
  }
  return kExitOk;
}

int run(Options const& options, std::string const& options_text) {
  if (is_single(options.files)) { return run_single(options); }
  return run_batch(options.files, options.common,
                   {.label = "cog", .options_text = options_text, .setup = [&](Dataset const& dataset) {
                      return make_setup(options, dataset);
                    }});
}

}  // namespace

void add_cog(CLI::App& app, Action& action) {
  auto const options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("cog", "Convert one or many readable files to Cloud-Optimized GeoTIFFs");
  command->footer(kFooter);
  add_conversion_files(*command, options->files);
  add_conversion_choices(*command, options->choices, options->selection, false);
  CLI::Option* const compression = command->get_option("--compression");
  compression->description(compression->get_description() +
                           ". With jpeg, alpha becomes a lossless mask unless --bands, --mask or --interleave band is "
                           "given");
  add_tiling(*command, options->tiling);
  command->get_option("--tiling-scheme")->excludes(command->get_option("--boundless"));
  add_common(*command, options->common);
  command->callback([options, command, &action] {
    action = [options, text = options_text(*command)] { return run(*options, text); };
  });
}

}  // namespace terrazzo::cli
