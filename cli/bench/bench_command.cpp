// SPDX-License-Identifier: Apache-2.0
#include "bench/bench_device.hpp"
#include "bench/bench_work.hpp"
#include "bench/bench_write.hpp"
#include "commands/commands.hpp"
#include "options/options.hpp"
#include "output/exit_code.hpp"
#include "output/format.hpp"
#include "output/json_output.hpp"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>

namespace terrazzo::cli {
namespace {

constexpr char kFooter[] =
    R"(Times reads from the page cache into memory that was allocated before, without opening the file, and prints the
median of the repeats. A GB is 10^9 bytes of pixels. Without --device the host engine is timed.

With --device pixels go to GPU memory. The output shows the first read of the process, which creates the GPU context,
loads libraries and allocates memory, the median of the reads after it, and each stage alone (disk, upload, decode,
place). The slowest stage is the limit: a read with perfect overlap takes as long as that stage. With --random-windows
one call reads all windows into one tensor; the host engine reads them one by one for comparison.

Examples:
  terrazzo bench read dem.tif
  terrazzo bench read --host --threads 2 --repeat 9 --json dem.tif
  terrazzo bench read --random-windows 1000 --window-size 512 dem.tif      many small reads, at fixed random positions
  terrazzo bench read --device dem.tif                                     into GPU memory, stage by stage
  terrazzo bench read --device --device-budget 128M dem.tif                with little scratch
  terrazzo bench read --device --random-windows 10000 --window-size 256 dem.tif)";

constexpr char kBenchFooter[] =
    R"(read: the time from the file to pixels in host or GPU memory. The file is read once before, so it is in the page
cache and the disk is not timed.
write: the time to compress pixels in memory and to write them.

Examples:
  terrazzo bench read dem.tif                                              the whole file, all cores
  terrazzo bench read --threads 1 dem.tif                                  one core
  terrazzo bench read --device dem.tif                                     the GPU, with the limiting stage
  terrazzo bench read --random-windows 1000 --window-size 512 dem.tif      many small reads
  terrazzo bench write --cog dem.tif                                       writing a COG
  terrazzo bench read --help                                               every option)";

struct Options {
  CommonOptions common;
  Selection selection;
  EngineOptions engine;
  std::string file;
  unsigned repeat = 5;
  unsigned random_windows = 0;
  std::uint32_t window_size = 512;
  std::uint32_t seed = 1;
};

std::vector<Window> windows_of(ReadPlan const& planned, Options const& options) {
  return random_windows(planned, options.random_windows, options.window_size, options.seed);
}

int run_on_device(Dataset const& dataset, ReadRequest const& request, Options const& options) {
  DeviceBenchOptions device{options.file, options.repeat, {}};
  if (options.random_windows > 0) { device.windows = windows_of(plan(dataset, request), options); }
  DeviceBench const bench = bench_device_read(dataset, request, device);
  if (options.common.json) {
    print_json(to_json(bench));
  } else {
    print(bench, std::cout);
  }
  return kExitOk;
}

int run_on_host(Dataset const& dataset, ReadRequest const& request, Options const& options) {
  ReadPlan const planned = plan(dataset, request);
  HostWork work(dataset, request,
                options.random_windows > 0 ? windows_of(planned, options) : std::vector<Window>{planned.window()});
  Timing const timing = time_repeatedly(options.repeat, [&] { work.run(); });
  double const seconds = timing.median();
  double const rate = gb_per_s(work.bytes(), seconds);
  if (options.common.json) {
    print_json({{"file", options.file},
                {"seconds", seconds},
                {"gb_per_s", rate},
                {"threads", planned.threads()},
                {"bytes", work.bytes()},
                {"repeat", options.repeat},
                {"min", timing.fastest()},
                {"max", timing.slowest()},
                {"times", timing.times},
                {"engine", "host"},
                {"codec", planned.codec()},
                {"predictor", planned.predictor()},
                {"width", work.array().width()},
                {"height", work.array().height()},
                {"bands", work.array().bands()},
                {"dtype", to_string(planned.dtype())},
                {"tiles", planned.tile_count()},
                {"windows", std::max(options.random_windows, 1U)}});
    return kExitOk;
  }
  char rate_text[32];
  std::snprintf(rate_text, sizeof rate_text, "%.2f GB/s", rate);
  std::cout << options.file << '\n'
            << "  " << rate_text << ", " << format_seconds(seconds) << " for " << format_bytes(work.bytes())
            << " (median of " << options.repeat << ", " << format_seconds(timing.fastest()) << " to "
            << format_seconds(timing.slowest()) << ")\n"
            << "  host engine, " << planned.threads() << (planned.threads() == 1 ? " thread, " : " threads, ")
            << planned.codec();
  if (options.random_windows > 0) {
    std::cout << ", " << options.random_windows << " windows of "
              << format_size(work.array().width(), work.array().height());
  }
  std::cout << '\n';
  return kExitOk;
}

int run(Options const& options) {
  Dataset const dataset = open_file(options.file, options.common);
  ReadRequest const request = make_request(dataset, options.selection, options.engine);
  // The options alone choose the measured engine: TERRAZZO_ENGINE must not change it.
  return (request.engine == Engine::device ? run_on_device : run_on_host)(dataset, request, options);
}

}  // namespace

void add_bench(CLI::App& app, Action& action) {
  CLI::App* bench = app.add_subcommand("bench", "Measure the speed of reading and writing a file");
  bench->require_subcommand(1);
  bench->footer(kBenchFooter);
  auto const options = std::make_shared<Options>();
  CLI::App* command = bench->add_subcommand("read", "Time reading");
  command->footer(kFooter);
  add_file(*command, options->file);
  add_whole(*command, "--repeat", options->repeat, "Number of reads; default 5", 1, 100'000);
  auto* random = add_whole(*command, "--random-windows", options->random_windows,
                           "Read this many random windows instead of the raster", 1, 10'000'000);
  add_whole(*command, "--window-size", options->window_size, "Side of those windows in pixels; default 512", 1,
            1'000'000)
      ->needs(random);
  add_whole(*command, "--seed", options->seed, "Seed of the random positions")->needs(random);
  add_area(*command, options->selection);
  add_level(*command, options->selection);
  add_target(*command, options->selection);
  add_target_resampling(*command, options->selection);
  add_conversion(*command, options->selection);
  random->excludes(command->get_option("--target-size"))->excludes(command->get_option("--target-resolution"));
  add_engine(*command, options->engine);
  add_device_tuning(*command, options->engine);
  add_common(*command, options->common);
  command->callback([options, &action] { action = [options] { return run(*options); }; });
  add_bench_write(*bench, action);
}

}  // namespace terrazzo::cli
