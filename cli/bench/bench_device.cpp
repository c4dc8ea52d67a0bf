// SPDX-License-Identifier: Apache-2.0
#include "bench/bench_device.hpp"

#include "interrupt.hpp"
#include "options/options.hpp"
#include "output/format.hpp"

#include "terrazzo/blocks.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <ostream>

namespace terrazzo::cli {
namespace {

constexpr std::uint64_t kWarmUpBlockBytes = 256U << 20;

std::string decimals(char const* format, double value) {
  char text[48];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

BenchStage const* slowest_of(std::vector<BenchStage> const& stages) {
  auto const slowest = std::max_element(stages.begin(), stages.end(),
                                        [](BenchStage const& a, BenchStage const& b) { return a.seconds < b.seconds; });
  return slowest == stages.end() ? nullptr : &*slowest;
}

// The host reads all tiles once and drops them: afterwards the file is in the page cache.
void warm_page_cache(Dataset const& dataset, ReadRequest request) {
  request.engine = Engine::host;
  RowBlocks const blocks(dataset, request, kWarmUpBlockBytes);
  std::optional<HostArray> buffer;
  for (std::uint64_t i = 0; i < blocks.count(); ++i) { blocks.read(i, buffer); }
}

void time_whole(Dataset const& dataset, ReadRequest const& request, unsigned repeat, DeviceBench& bench) {
  warm_page_cache(dataset, request);
  {
    std::optional<DeviceArray> array;
    bench.first_s += seconds_of([&] { array.emplace(read_device(dataset, request)); });
    bench.bytes = array->size_bytes();
    bench.steady = time_repeatedly(repeat, [&] {
      throw_if_cancelled();
      read_into(dataset, request, array->view());
    });
  }  // free it: the stages are timed with another result, and two might not fit
  bench.stages = profile_device_read(dataset, request);
}

void time_windows(Dataset const& dataset, ReadRequest request, DeviceBenchOptions const& options,
                  std::uint64_t free_bytes, DeviceBench& bench) {
  Window const& first = options.windows.front();
  bench.width = first.width;
  bench.height = first.height;
  bench.windows = static_cast<std::uint32_t>(options.windows.size());
  HostWork host(dataset, request, options.windows);
  check_windows_fit(options.windows.size(), host.array().bytes().size(), first.height, free_bytes);
  bench.host = time_repeatedly(options.repeat, [&] { host.run(); });
  bench.bytes = host.bytes();

  std::vector<WindowOf> windows;
  for (Window const& window : options.windows) { windows.push_back({dataset, window}); }
  request.window.reset();
  std::optional<DeviceArray> tensor;
  DeviceBatchView batch;
  auto const read_all = [&] {
    throw_if_cancelled();
    read_windows(windows, request, batch);
  };
  bench.first_s += seconds_of([&] {
    tensor.emplace(make_device_array(bench.dtype, bench.bands, bench.windows * bench.height, bench.width));
    auto const sample = static_cast<std::int64_t>(size_bytes(bench.dtype));
    std::int64_t const row = sample * bench.width, band = row * bench.height;
    batch = {{tensor->data(), bench.dtype, bench.bands, bench.height, bench.width, band, row, sample},
             bench.windows,
             band * bench.bands};
    read_all();
  });
  bench.steady = time_repeatedly(options.repeat, read_all);
}

Json timing_to_json(Timing const& timing) {
  return {{"seconds", timing.median()}, {"min", timing.fastest()}, {"max", timing.slowest()}, {"times", timing.times}};
}

void print_stages(DeviceBench const& bench, std::ostream& out) {
  std::vector<BenchStage> const stages = stages_of(*bench.stages);
  BenchStage const* const limit = slowest_of(stages);
  if (limit == nullptr) {
    out << "  no stages to time: the host decoded every tile\n";
    return;
  }
  out << "\n  each stage alone, " << format_count(bench.stages->device_tiles) << " tiles in "
      << format_count(bench.stages->batches) << (bench.stages->batches == 1 ? " batch" : " batches");
  if (bench.stages->host_tiles > 0) { out << ", " << format_count(bench.stages->host_tiles) << " more on the host"; }
  out << '\n';
  Table table({"stage", "time", "GB/s", "of"});
  double sum = 0;
  for (BenchStage const& stage : stages) {
    sum += stage.seconds;
    table.add({stage.name, format_seconds(stage.seconds), decimals("%.1f", gb_per_s(stage.bytes, stage.seconds)),
               format_bytes(stage.bytes) + " " + stage.what});
  }
  table.print(out, "    ");
  double const read_s = bench.steady.median();
  out << "  limit: " << limit->name << ", " << format_seconds(limit->seconds) << "; the read takes "
      << decimals("%.2f", read_s / limit->seconds) << " times as long, its stages one after the other "
      << decimals("%.2f", sum / limit->seconds) << " times\n";
}

}  // namespace

void check_windows_fit(std::size_t count, std::uint64_t window_bytes, std::uint32_t height, std::uint64_t free_bytes) {
  double const bytes = static_cast<double>(count) * static_cast<double>(window_bytes);
  bool const countable = static_cast<double>(count) * height < double{std::numeric_limits<std::uint32_t>::max()};
  if (bytes > static_cast<double>(free_bytes) || !countable) {
    throw Error(ErrorKind::limit, std::to_string(count) + " windows in one tensor take " +
                                      decimals("%.1f GB", bytes / 1e9) + " of GPU memory, " +
                                      decimals("%.1f GB", static_cast<double>(free_bytes) / 1e9) +
                                      " are free; ask for fewer (--random-windows) or smaller ones (--window-size)");
  }
}

std::vector<BenchStage> stages_of(StageTimes const& times) {
  if (times.device_tiles == 0) { return {}; }
  std::vector<BenchStage> stages;
  if (times.fetch_s > 0) {  // kvikIO copies bytes to the GPU in one step: there are no times for its halves
    stages = {{"disk", times.fetch_s, times.fetched_bytes, "compressed, file to pinned memory"},
              {"upload", times.upload_s, times.fetched_bytes, "compressed, pinned memory to GPU"}};
  }
  stages.push_back({"decode", times.decode_s, times.decoded_bytes, "decoded"});
  stages.push_back({"place", times.place_s, times.decoded_bytes, "decoded, predictor undone and put in place"});
  return stages;
}

Json to_json(DeviceBench const& bench) {
  double const seconds = bench.steady.median();
  Json json = {{"file", bench.file},
               {"seconds", seconds},
               {"gb_per_s", gb_per_s(bench.bytes, seconds)},
               {"threads", bench.threads},
               {"bytes", bench.bytes},
               {"repeat", bench.steady.times.size()},
               {"min", bench.steady.fastest()},
               {"max", bench.steady.slowest()},
               {"times", bench.steady.times},
               {"first_seconds", bench.first_s},
               {"engine", "device"},
               {"gpu", bench.gpu},
               {"decoder", bench.engine.decoder},
               {"codec", bench.codec},
               {"predictor", bench.predictor},
               {"width", bench.width},
               {"height", bench.height},
               {"bands", bench.bands},
               {"dtype", to_string(bench.dtype)},
               {"tiles", bench.tiles},
               {"windows", bench.windows}};
  if (bench.stages) {
    std::vector<BenchStage> const stages = stages_of(*bench.stages);
    Json list = Json::array();
    for (BenchStage const& stage : stages) {
      list.push_back({{"stage", stage.name},
                      {"seconds", stage.seconds},
                      {"bytes", stage.bytes},
                      {"gb_per_s", gb_per_s(stage.bytes, stage.seconds)}});
    }
    BenchStage const* const limit = slowest_of(stages);
    json["stages"] = std::move(list);
    json["batches"] = bench.stages->batches;
    json["device_tiles"] = bench.stages->device_tiles;
    json["host_tiles"] = bench.stages->host_tiles;
    json["limit"] = limit == nullptr ? Json() : Json(limit->name);
    json["times_limit"] = limit == nullptr || !(limit->seconds > 0) ? Json() : Json(seconds / limit->seconds);
  }
  if (bench.host) {
    json["host"] = timing_to_json(*bench.host);
    json["times_host"] = bench.host->median() / seconds;
  }
  return json;
}

void print(DeviceBench const& bench, std::ostream& out) {
  double const seconds = bench.steady.median();
  out << bench.file << '\n'
      << "  " << decimals("%.2f GB/s", gb_per_s(bench.bytes, seconds)) << ", " << format_seconds(seconds) << " for "
      << format_bytes(bench.bytes) << " into GPU memory (median of " << bench.steady.times.size() << ", "
      << format_seconds(bench.steady.fastest()) << " to " << format_seconds(bench.steady.slowest()) << ")\n"
      << "  " << format_seconds(bench.first_s) << " the first time, with GPU context, libraries and memory\n"
      << "  device engine, " << bench.gpu << ", " << bench.engine.decoder;
  if (bench.host) {
    out << ", " << format_count(bench.windows) << " windows of " << format_size(bench.width, bench.height)
        << " in one call\n"
        << "  host engine, one window after the other: " << format_seconds(bench.host->median()) << ", "
        << decimals("%.2f GB/s", gb_per_s(bench.bytes, bench.host->median())) << ": the device is "
        << decimals("%.2f", bench.host->median() / seconds) << " times as fast";
  }
  out << '\n';
  if (bench.stages) { print_stages(bench, out); }
}

DeviceBench bench_device_read(Dataset const& dataset, ReadRequest const& request, DeviceBenchOptions const& options) {
  ReadPlan const planned = plan(dataset, request);
  DeviceBench bench;
  bench.file = options.file;
  bench.codec = planned.codec();
  bench.predictor = planned.predictor();
  bench.bands = static_cast<std::uint32_t>(planned.bands().size());
  bench.height = planned.height();
  bench.width = planned.width();
  bench.dtype = planned.dtype();
  bench.tiles = planned.tile_count();
  bench.threads = planned.threads();
  // The query creates the context and loads the libraries, as a first read would: it counts as part of the first read.
  DeviceState device;
  bench.first_s = seconds_of([&] { device = usable_device(); });
  bench.gpu = device.name;
  bench.engine = plan_device_read(dataset, request);
  if (options.windows.empty()) {
    time_whole(dataset, request, options.repeat, bench);
  } else {
    time_windows(dataset, request, options, device.free_bytes, bench);
  }
  return bench;
}

}  // namespace terrazzo::cli
