// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"
#include "exit_code.hpp"
#include "format.hpp"
#include "interrupt.hpp"
#include "json_output.hpp"
#include "options.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <memory>
#include <random>

namespace terrazzo::cli {
namespace {

constexpr char kFooter[] =
    R"(Times the read itself, file to pixels in memory that was allocated and touched before; opening is not
counted. The median of the repeats is given. GB are 10^9 bytes of pixels.

Examples:
  terrazzo bench read dem.tif
  terrazzo bench read --host --threads 2 --repeat 9 --json dem.tif
  terrazzo bench read --random-windows 1000 --window-size 512 dem.tif      many small reads, the same every time)";

struct Options {
  CommonOptions common;
  Selection selection;
  std::string file;
  unsigned repeat = 5;
  unsigned random_windows = 0;
  std::uint32_t window_size = 512;
  std::uint32_t seed = 1;
  bool host = false;
};

std::vector<Window> random_windows(ReadPlan const& whole, Options const& options) {
  Window const area = whole.window();
  std::uint32_t const width = std::min(options.window_size, area.width);
  std::uint32_t const height = std::min(options.window_size, area.height);
  std::mt19937 random(options.seed);  // the same windows on every machine: its sequence is in the standard
  auto const below = [&](std::uint32_t end) { return static_cast<std::uint32_t>(std::uint64_t{random()} * end >> 32); };
  std::vector<Window> windows;
  for (unsigned i = 0; i < options.random_windows; ++i) {
    std::uint32_t const column = area.column + below(area.width - width + 1);
    std::uint32_t const row = area.row + below(area.height - height + 1);
    windows.push_back({column, row, width, height});
  }
  return windows;
}

// Reads, one or many, that are timed together.
class Work {
 public:
  Work(Dataset const& dataset, ReadRequest request, Options const& options)
      : dataset_(dataset), request_(std::move(request)) {
    ReadPlan const whole = plan(dataset_, request_);
    if (options.random_windows > 0) {
      windows_ = random_windows(whole, options);
    } else {
      windows_.push_back(whole.window());
    }
    if (!request_.target_size) { request_.window = windows_.front(); }
    buffer_.emplace(read(dataset_, request_));  // the first read checks the memory limit, and warms the page cache
    std::memset(buffer_->bytes().data(), 0, buffer_->bytes().size());
    bytes_ = buffer_->bytes().size() * windows_.size();
  }

  [[nodiscard]] double run_once() {
    ReadReport report;
    auto const started = std::chrono::steady_clock::now();
    for (Window const& window : windows_) {
      if (!request_.target_size) { request_.window = window; }
      read_into(dataset_, request_, buffer_->view(), &report);
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  }

  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] HostArray const& array() const noexcept { return *buffer_; }

 private:
  Dataset const& dataset_;
  ReadRequest request_;
  std::vector<Window> windows_;
  std::optional<HostArray> buffer_;
  std::uint64_t bytes_ = 0;
};

double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  std::size_t const middle = times.size() / 2;
  return times.size() % 2 == 1 ? times[middle] : (times[middle - 1] + times[middle]) / 2;
}

int run(Options const& options) {
  Dataset const dataset = open_file(options.file, options.common);
  ReadRequest const request = make_request(dataset, options.selection);
  ReadPlan const planned = plan(dataset, request);
  Work work(dataset, request, options);
  std::vector<double> times;
  for (unsigned i = 0; i < options.repeat; ++i) {
    throw_if_cancelled();
    times.push_back(work.run_once());
  }
  double const seconds = median(times);
  double const gb_per_s = seconds > 0 ? static_cast<double>(work.bytes()) / 1e9 / seconds : 0;
  auto const [fastest, slowest] = std::minmax_element(times.begin(), times.end());
  if (options.common.json) {
    print_json({{"file", options.file},
                {"seconds", seconds},
                {"gb_per_s", gb_per_s},
                {"threads", planned.threads()},
                {"bytes", work.bytes()},
                {"repeat", options.repeat},
                {"min", *fastest},
                {"max", *slowest},
                {"times", times},
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
  char rate[32];
  std::snprintf(rate, sizeof rate, "%.2f GB/s", gb_per_s);
  std::cout << options.file << '\n'
            << "  " << rate << ", " << format_seconds(seconds) << " for " << format_bytes(work.bytes())
            << " (median of " << options.repeat << ", " << format_seconds(*fastest) << " to "
            << format_seconds(*slowest) << ")\n"
            << "  host engine, " << planned.threads() << (planned.threads() == 1 ? " thread, " : " threads, ")
            << planned.codec();
  if (options.random_windows > 0) {
    std::cout << ", " << options.random_windows << " windows of "
              << format_size(work.array().width(), work.array().height());
  }
  std::cout << '\n';
  return kExitOk;
}

}  // namespace

void add_bench(CLI::App& app, Action& action) {
  CLI::App* bench = app.add_subcommand("bench", "How fast this machine reads a file");
  bench->require_subcommand(1);
  auto const options = std::make_shared<Options>();
  CLI::App* command = bench->add_subcommand("read", "Time reading");
  command->footer(kFooter);
  add_file(*command, options->file);
  command->add_option("--repeat", options->repeat, "How often; default 5")
      ->check(CLI::Range(1, 100'000))
      ->type_name("N");
  command->add_flag("--host", options->host, "Use the host engine (the only one in this version)");
  auto* random =
      command->add_option("--random-windows", options->random_windows, "Read this many windows instead of all")
          ->check(CLI::Range(1, 10'000'000))
          ->type_name("N");
  command->add_option("--window-size", options->window_size, "Side of those windows; default 512")
      ->check(CLI::Range(1, 1'000'000))
      ->needs(random)
      ->type_name("PIXELS");
  command->add_option("--seed", options->seed, "Other windows")->needs(random)->type_name("N");
  add_area(*command, options->selection);
  add_level(*command, options->selection);
  add_target(*command, options->selection);
  add_conversion(*command, options->selection);
  random->excludes(command->get_option("--target-size"))->excludes(command->get_option("--target-resolution"));
  add_common(*command, options->common);
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace terrazzo::cli
