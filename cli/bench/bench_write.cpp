// SPDX-License-Identifier: Apache-2.0
#include "bench/bench_write.hpp"

#include "bench/bench_work.hpp"
#include "interrupt.hpp"
#include "options/options.hpp"
#include "options/write_options.hpp"
#include "output/exit_code.hpp"
#include "output/format.hpp"
#include "output/json_output.hpp"

#include "terrazzo/convert.hpp"
#include "terrazzo/device.hpp"
#include "terrazzo/error.hpp"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <system_error>

namespace terrazzo::cli {
namespace {

constexpr char kFooter[] =
    R"(The pixels are read once into memory and written repeatedly: to a sink that discards bytes, which times cutting,
predictor and codec (and overviews with --cog), and to a temporary file, which adds the cost of the file. Writes are not
synced to disk without --fsync. The output is the median of the repeats. A GB is 10^9 bytes of pixels. Masks are left
out.

With --device the pixels are in GPU memory, and are reduced and compressed there. The output shows the maximum of GPU
memory that writing held beyond the pixels.

Examples:
  terrazzo bench write dem.tif                                             zstd, 512 px tiles
  terrazzo bench write --cog --compression deflate dem.tif                 with overviews, in COG order
  terrazzo bench write --compression-level 1 --threads 1 --json dem.tif    one core
  terrazzo bench write --device --cog dem.tif                              from GPU memory
  terrazzo bench write --device --device-budget 256M dem.tif               with little GPU memory beside)";

struct Options {
  CommonOptions common;
  Selection selection;
  WriteChoices choices;
  std::string file, folder;
  std::uint32_t repeat = 3;
  bool cog = false;
};

// A name in `folder`; the destructor always removes the file.
class TemporaryPath {
 public:
  explicit TemporaryPath(std::string const& folder)
      : path_((folder.empty() ? std::filesystem::temp_directory_path() : std::filesystem::path(folder)) /
              ("terrazzo-bench-" + std::to_string(::getpid()) + ".tif")) {}
  ~TemporaryPath() { remove(); }
  TemporaryPath(TemporaryPath const&) = delete;
  TemporaryPath& operator=(TemporaryPath const&) = delete;

  void remove() const noexcept {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  [[nodiscard]] std::string text() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

struct Measured {
  Timing nowhere, file;
  WriteReport report;
  std::uint64_t pixel_bytes = 0, device_peak_bytes = 0;
  std::string gpu;  // empty: the host did it
};

// `View`: of pixels in host or device memory.
template <class View>
Measured measure(View const& pixels, WriteOptions const& options, std::string const& folder, unsigned repeat) {
  Measured measured;
  TemporaryPath const path(folder);
  auto const nowhere = [&] {
    throw_if_cancelled();
    write(seekable_sink("nowhere", [](std::uint64_t, std::span<std::byte const>) {}), pixels, options);
  };
  nowhere();  // touches pages and loads libraries before the clock starts
  for (unsigned i = 0; i < repeat; ++i) {
    measured.nowhere.times.push_back(seconds_of(nowhere));
    path.remove();
    measured.file.times.push_back(seconds_of([&] { measured.report = write(path.text(), pixels, options); }));
  }
  return measured;
}

Measured measure_on_host(Dataset const& dataset, ReadRequest const& request, WriteOptions const& write_options,
                         Options const& options) {
  HostArray const pixels = read(dataset, request);
  Measured measured = measure(pixels.view(), write_options, options.folder, options.repeat);
  measured.pixel_bytes = pixels.bytes().size();
  return measured;
}

Measured measure_on_device(Dataset const& dataset, ReadRequest const& request, WriteOptions const& write_options,
                           Options const& options) {
  DeviceState const device = usable_device();
  DeviceArray const pixels = read_device(dataset, request);
  release_device_memory();  // otherwise scratch of the read would count
  reset_device_memory_peak();
  std::uint64_t const before = device_memory_use().used_bytes;
  Measured measured = measure(pixels.view(), write_options, options.folder, options.repeat);
  measured.pixel_bytes = pixels.size_bytes();
  measured.device_peak_bytes = device_memory_use().peak_bytes - before;
  measured.gpu = device.name;
  return measured;
}

Json to_json(Timing const& timing, std::uint64_t bytes) {
  return {{"seconds", timing.median()},
          {"gb_per_s", gb_per_s(bytes, timing.median())},
          {"min", timing.fastest()},
          {"max", timing.slowest()},
          {"times", timing.times}};
}

void print_line(char const* what, Timing const& timing, std::uint64_t bytes) {
  char rate[32];
  std::snprintf(rate, sizeof rate, "%.2f GB/s", gb_per_s(bytes, timing.median()));
  std::cout << "  " << what << rate << ", " << format_seconds(timing.median()) << " ("
            << format_seconds(timing.fastest()) << " to " << format_seconds(timing.slowest()) << ")\n";
}

void print_text(Options const& options, WriteOptions const& write_options, Measured const& measured, unsigned threads) {
  WriteReport const& report = measured.report;
  std::uint64_t const bytes = measured.pixel_bytes;
  char share[16];
  std::snprintf(share, sizeof share, "%.1f %%",
                100.0 * static_cast<double>(report.bytes_written) / static_cast<double>(bytes));
  std::cout << options.file << '\n';
  print_line("to nowhere: ", measured.nowhere, bytes);
  print_line("to a file:  ", measured.file, bytes);
  std::cout << "  " << format_bytes(bytes) << " become " << format_bytes(report.bytes_written) << " (" << share << "), "
            << to_string(write_options.compression) << (options.cog ? ", COG, " : ", ") << threads
            << (threads == 1 ? " thread" : " threads") << ", median of " << options.repeat << '\n';
  if (!measured.gpu.empty()) {
    std::cout << "  device engine, " << measured.gpu << ": " << format_count(report.device_tiles) << " of "
              << format_count(report.tiles) << " tiles compressed there, " << format_bytes(measured.device_peak_bytes)
              << " of GPU memory beyond the pixels\n";
  }
}

int run(Options const& options) {
  Dataset const dataset = open_file(options.file, options.common);
  ReadRequest request = make_request(dataset, options.selection);
  bool const on_device = options.choices.engine == Engine::device;
  WriteOptions write_options = conversion_options(dataset, request);
  write_options.cog = options.cog;
  write_options.mask = false;
  apply_choices(options.choices, write_options);
  // The options alone choose the measured engine: TERRAZZO_ENGINE must not change it.
  write_options.engine = on_device ? Engine::device : Engine::host;
  request.engine = on_device ? Engine::automatic : Engine::host;
  write_options.threads = options.common.threads;
  write_options.cancel = cancel_flag();
  ReadPlan const planned = plan(dataset, request);
  Measured const measured = (on_device ? measure_on_device : measure_on_host)(dataset, request, write_options, options);
  if (!options.common.json) {
    print_text(options, write_options, measured, planned.threads());
    return kExitOk;
  }
  WriteReport const& report = measured.report;
  std::uint64_t const bytes = measured.pixel_bytes;
  Json json{{"file", options.file},
            {"bytes", bytes},
            {"bytes_written", report.bytes_written},
            {"tiles", report.tiles},
            {"device_tiles", report.device_tiles},
            {"engine", on_device ? "device" : "host"},
            {"threads", planned.threads()},
            {"repeat", options.repeat},
            {"cog", options.cog},
            {"codec", to_string(write_options.compression)},
            {"width", planned.width()},
            {"height", planned.height()},
            {"bands", planned.bands().size()},
            {"dtype", to_string(planned.dtype())},
            {"nowhere", to_json(measured.nowhere, bytes)},
            {"to_file", to_json(measured.file, bytes)}};
  if (on_device) { json.update({{"gpu", measured.gpu}, {"device_peak_bytes", measured.device_peak_bytes}}); }
  print_json(json);
  return kExitOk;
}

}  // namespace

void add_bench_write(CLI::App& bench, Action& action) {
  auto const options = std::make_shared<Options>();
  CLI::App* command = bench.add_subcommand("write", "Time writing");
  command->footer(kFooter);
  add_file(*command, options->file);
  add_whole(*command, "--repeat", options->repeat, "Number of writes; default 3", 1, 100'000);
  command->add_flag("--cog", options->cog, "Write a COG, with overviews");
  command
      ->add_option("--folder", options->folder,
                   "Folder of the temporary file; default: the system's folder for temporary files")
      ->type_name("FOLDER");
  add_compression(*command, options->choices);
  add_layout(*command, options->choices, true);
  add_overview_choices(*command, options->choices);
  add_area(*command, options->selection);
  add_level(*command, options->selection);
  add_conversion(*command, options->selection);
  add_writing(*command, options->choices);
  add_write_engine(*command, options->choices);
  add_common(*command, options->common);
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace terrazzo::cli
