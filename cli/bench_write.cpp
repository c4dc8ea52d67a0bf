// SPDX-License-Identifier: Apache-2.0
#include "bench_write.hpp"

#include "bench_work.hpp"
#include "exit_code.hpp"
#include "format.hpp"
#include "interrupt.hpp"
#include "json_output.hpp"
#include "options.hpp"
#include "write_options.hpp"

#include "terrazzo/convert.hpp"
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
    R"(The pixels are read once, into memory, and written again and again: to nowhere, which times cutting, predictor and
codec (and overviews, with --cog), and to a file that is removed at once, which adds what the file costs. Nobody waits
for the disk without --fsync. The median of the repeats is given. GB are 10^9 bytes of pixels. Masks are left out.

Examples:
  terrazzo bench write dem.tif                                             zstd, 512 px tiles
  terrazzo bench write --cog --compression deflate dem.tif                 with overviews, in COG order
  terrazzo bench write --compression-level 1 --threads 1 --json dem.tif    one core)";

struct Options {
  CommonOptions common;
  Selection selection;
  WriteChoices choices;
  std::string file, folder;
  std::uint32_t repeat = 3;
  bool cog = false;
};

// A name in `folder` that goes away again, whatever happens.
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
};

Measured measure(HostView const& pixels, WriteOptions const& options, std::string const& folder, unsigned repeat) {
  Measured measured;
  TemporaryPath const path(folder);
  auto const nowhere = [&] {
    throw_if_cancelled();
    write(seekable_sink("nowhere", [](std::uint64_t, std::span<std::byte const>) {}), pixels, options);
  };
  nowhere();  // pages are touched and libraries loaded before the clock starts
  for (unsigned i = 0; i < repeat; ++i) {
    measured.nowhere.times.push_back(seconds_of(nowhere));
    path.remove();
    measured.file.times.push_back(seconds_of([&] { measured.report = write(path.text(), pixels, options); }));
  }
  return measured;
}

nlohmann::json to_json(Timing const& timing, std::uint64_t bytes) {
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

int run(Options const& options) {
  Dataset const dataset = open_file(options.file, options.common);
  ReadRequest request = make_request(dataset, options.selection);
  request.engine = Engine::host;
  WriteOptions write_options = conversion_options(dataset, request);
  write_options.cog = options.cog;
  write_options.mask = false;
  apply_choices(options.choices, write_options);
  write_options.threads = options.common.threads;
  write_options.cancel = cancel_flag();
  unsigned const threads = plan(dataset, request).threads();
  HostArray const pixels = read(dataset, request);
  std::uint64_t const bytes = pixels.bytes().size();
  Measured const measured = measure(pixels.view(), write_options, options.folder, options.repeat);
  WriteReport const& report = measured.report;
  if (options.common.json) {
    print_json({{"file", options.file},
                {"bytes", bytes},
                {"bytes_written", report.bytes_written},
                {"tiles", report.tiles},
                {"threads", threads},
                {"repeat", options.repeat},
                {"cog", options.cog},
                {"codec", to_string(write_options.compression)},
                {"width", pixels.width()},
                {"height", pixels.height()},
                {"bands", pixels.bands()},
                {"dtype", to_string(pixels.dtype())},
                {"nowhere", to_json(measured.nowhere, bytes)},
                {"to_file", to_json(measured.file, bytes)}});
    return kExitOk;
  }
  char share[16];
  std::snprintf(share, sizeof share, "%.1f %%",
                100.0 * static_cast<double>(report.bytes_written) / static_cast<double>(bytes));
  std::cout << options.file << '\n';
  print_line("to nowhere: ", measured.nowhere, bytes);
  print_line("to a file:  ", measured.file, bytes);
  std::cout << "  " << format_bytes(bytes) << " become " << format_bytes(report.bytes_written) << " (" << share << "), "
            << to_string(write_options.compression) << (options.cog ? ", COG, " : ", ") << threads
            << (threads == 1 ? " thread" : " threads") << ", median of " << options.repeat << '\n';
  return kExitOk;
}

}  // namespace

void add_bench_write(CLI::App& bench, Action& action) {
  auto const options = std::make_shared<Options>();
  CLI::App* command = bench.add_subcommand("write", "Time writing");
  command->footer(kFooter);
  add_file(*command, options->file);
  add_whole(*command, "--repeat", options->repeat, "How often; default 3", 1, 100'000);
  command->add_flag("--cog", options->cog, "Write a COG: overviews too, directories first");
  command
      ->add_option("--folder", options->folder, "Where the file is made for a moment; default: that of temporary files")
      ->type_name("FOLDER");
  add_compression(*command, options->choices);
  add_layout(*command, options->choices, true);
  add_overview_choices(*command, options->choices);
  add_area(*command, options->selection);
  add_level(*command, options->selection);
  add_conversion(*command, options->selection);
  add_writing(*command, options->choices);
  add_common(*command, options->common);
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace terrazzo::cli
