// SPDX-License-Identifier: Apache-2.0
//
// device_bench FILE...: from file to device array, beside the host engine on the same machine. For each file: is the
// device's result the host's, byte for byte (lossy codecs: how far apart); the first read of the process; the median of
// the reads that follow; the stages by themselves; the same under smaller budgets. Prints a table, or one JSON object a
// line with --json.
#include "terrazzo/device.hpp"
#include "terrazzo/profile.hpp"
#include "terrazzo/settings.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace terrazzo;

double seconds(std::chrono::steady_clock::time_point since) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - since).count();
}

double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

// Largest and mean difference of bytes; equal arrays have 0 and 0.
struct Difference {
  unsigned largest = 0;
  double mean = 0;
  std::uint64_t differing = 0;
};

Difference compare(HostArray const& a, HostArray const& b) {
  Difference difference;
  if (std::memcmp(a.bytes().data(), b.bytes().data(), a.bytes().size()) == 0) { return difference; }
  double sum = 0;
  for (std::size_t i = 0; i < a.bytes().size(); ++i) {
    unsigned const apart =
        static_cast<unsigned>(std::abs(static_cast<int>(a.bytes()[i]) - static_cast<int>(b.bytes()[i])));
    difference.largest = std::max(difference.largest, apart);
    difference.differing += apart != 0 ? 1 : 0;
    sum += apart;
  }
  difference.mean = sum / static_cast<double>(a.bytes().size());
  return difference;
}

double timed_read(Dataset const& dataset, ReadRequest const& request, DeviceArray const& into, int repeats) {
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) {
    auto const start = std::chrono::steady_clock::now();
    read_into(dataset, request, into.view());
    times.push_back(seconds(start));
  }
  return median(times);
}

// Of the pixels as 8-byte words: sum of word times 2 * index + 1, modulo 2^64. peers in other languages compute it too.
std::uint64_t digest(HostArray const& array) {
  std::uint64_t sum = 0;
  std::size_t const words = array.bytes().size() / 8;
  for (std::size_t i = 0; i < words; ++i) {
    std::uint64_t word;
    std::memcpy(&word, array.bytes().data() + i * 8, 8);
    sum += word * (2 * i + 1);
  }
  return sum;
}

// The same windows for every reader: a small generator that any language can have.
std::vector<std::uint32_t> random_numbers(std::size_t count) {
  std::vector<std::uint32_t> numbers;
  std::uint64_t state = 1;
  for (std::size_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    numbers.push_back(static_cast<std::uint32_t>(state >> 33));
  }
  return numbers;
}

// `count` random windows over all files into one tensor, in one call.
void measure_windows(std::vector<std::string> const& paths, OpenOptions const& options, std::uint32_t count,
                     std::uint32_t size, int repeats) {
  std::vector<Dataset> datasets;
  for (std::string const& path : paths) { datasets.push_back(open(path, options)); }
  std::vector<std::uint32_t> const numbers = random_numbers(std::size_t{count} * 3);
  std::vector<WindowOf> windows;
  for (std::uint32_t i = 0; i < count; ++i) {
    Dataset const& dataset = datasets[numbers[3 * i] % datasets.size()];
    windows.push_back({dataset, Window{numbers[3 * i + 1] % (dataset.info().width - size + 1),
                                       numbers[3 * i + 2] % (dataset.info().height - size + 1), size, size}});
  }
  DType const dtype = datasets.front().info().bands.front().dtype;
  auto const bands = static_cast<std::uint32_t>(datasets.front().info().bands.size());
  auto const sample = static_cast<std::int64_t>(size_bytes(dtype));
  // A raster of count * size rows has the tensor's memory.
  std::int64_t const item_bytes = sample * bands * size * size;
  DeviceArray const tensor = make_device_array(dtype, 1, count * bands * size, size);
  DeviceBatchView view;
  view.item = {tensor.data(), dtype, bands, size, size, sample * size * size, sample * size, sample};
  view.count = count;
  view.item_stride_bytes = item_bytes;
  ReadRequest request;
  request.engine = Engine::device;
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) {
    auto const start = std::chrono::steady_clock::now();
    read_windows(windows, request, view);
    times.push_back(seconds(start));
  }
  HostArray const result = tensor.to_host();
  std::uint32_t wrong = 0;
  for (std::uint32_t i = 0; i < count; i += 37) {
    ReadRequest one;
    one.window = windows[i].window;
    HostArray const expected = read(windows[i].dataset, one);
    wrong += std::memcmp(expected.bytes().data(), result.bytes().data() + i * static_cast<std::size_t>(item_bytes),
                         expected.bytes().size()) != 0
                 ? 1
                 : 0;
  }
  std::printf(
      "windows %u of %u px over %zu files: first %.1f ms, steady %.1f ms, %u differ from the host, digest %llu\n",
      count, size, paths.size(), times.front() * 1e3, median({times.begin() + 1, times.end()}) * 1e3, wrong,
      static_cast<unsigned long long>(digest(result)));
}

void measure(std::string const& path, OpenOptions const& options, int repeats, bool quick) {
  Dataset const dataset = open(path, options);
  ReadRequest request;
  request.engine = Engine::device;
  auto const start = std::chrono::steady_clock::now();
  DeviceArray const array = read_device(dataset, request);
  double const first = seconds(start);
  if (quick) {
    double const steady = timed_read(dataset, request, array, repeats);
    std::printf("%-28s first %7.1f ms  steady %7.2f ms\n", path.substr(path.find_last_of('/') + 1).c_str(), first * 1e3,
                steady * 1e3);
    return;
  }
  ReadRequest on_host;
  on_host.engine = Engine::host;
  HostArray const expected = read(dataset, on_host);
  Difference const difference = compare(array.to_host(), expected);
  double const steady = timed_read(dataset, request, array, repeats);
  (void)profile_device_read(dataset, request);  // makes the larger batches' memory
  StageTimes const stages = profile_device_read(dataset, request);
  release_device_memory();
  reset_device_memory_peak();
  (void)timed_read(dataset, request, array, 2);
  std::uint64_t const peak = device_memory_use().peak_bytes - array.size_bytes();
  double const gigabytes = static_cast<double>(array.size_bytes()) / 1e9;
  double const fetched = static_cast<double>(stages.fetched_bytes) / 1e9;
  double const decoded = static_cast<double>(stages.decoded_bytes) / 1e9;
  std::string const name = path.substr(path.find_last_of('/') + 1);
  std::printf("%-28s first %7.1f ms  steady %7.2f ms %6.1f GB/s  ", name.c_str(), first * 1e3, steady * 1e3,
              gigabytes / steady);
  if (difference.differing == 0) {
    std::printf("equal, digest %llu", static_cast<unsigned long long>(digest(expected)));
  } else {
    std::printf("DIFFERS: %llu bytes, largest %u, mean %.4f", static_cast<unsigned long long>(difference.differing),
                difference.largest, difference.mean);
  }
  std::printf(
      "\n  alone: fetch %.2f ms (%.1f GB/s) upload %.2f (%.1f) decode %.2f (%.1f) place %.2f (%.1f); %llu batches, "
      "%llu tiles, %llu by the host\n",
      stages.fetch_s * 1e3, fetched / stages.fetch_s, stages.upload_s * 1e3, fetched / stages.upload_s,
      stages.decode_s * 1e3, decoded / stages.decode_s, stages.place_s * 1e3, decoded / stages.place_s,
      static_cast<unsigned long long>(stages.batches), static_cast<unsigned long long>(stages.device_tiles),
      static_cast<unsigned long long>(stages.host_tiles));
  std::printf("  default budget %llu MiB, peak beyond the result %llu MiB\n",
              static_cast<unsigned long long>(device_state().default_budget_bytes >> 20),
              static_cast<unsigned long long>(peak >> 20));
  for (std::uint64_t const budget : {std::uint64_t{1} << 30, std::uint64_t{128} << 20}) {
    ReadRequest limited = request;
    limited.device_budget_bytes = budget;
    try {
      read_into(dataset, limited, array.view());  // frees the buffers of the larger budget
      reset_device_memory_peak();
      double const limited_s = timed_read(dataset, limited, array, std::max(3, repeats / 2));
      std::printf("  budget %llu MiB: %.2f ms, peak beyond the result %llu MiB\n",
                  static_cast<unsigned long long>(budget >> 20), limited_s * 1e3,
                  static_cast<unsigned long long>((device_memory_use().peak_bytes - array.size_bytes()) >> 20));
    } catch (Error const& error) {
      std::printf("  budget %llu MiB: %s\n", static_cast<unsigned long long>(budget >> 20), error.what());
    }
  }
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  terrazzo::set_log([](std::string_view message) {
    std::fprintf(stderr, "note: %.*s\n", static_cast<int>(message.size()), message.data());
  });
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // a run that is stopped has printed its results so far
  int repeats = 9;
  int failures = 0;
  bool quick = false;
  OpenOptions options;
  std::uint32_t windows = 0, window_size = 256;
  std::vector<std::string> window_files;
  for (int i = 1; i < argc; ++i) {
    std::string const word = argv[i];
    if (word == "--repeat" && i + 1 < argc) {
      repeats = std::max(1, std::atoi(argv[++i]));
      continue;
    }
    if (word == "--quick") {  // the times alone
      quick = true;
      continue;
    }
    if (word == "--trusted") {  // nvCOMP's ZSTD decodes too
      options.trust = Trust::trusted;
      continue;
    }
    if (word == "--windows" && i + 1 < argc) {
      windows = static_cast<std::uint32_t>(std::atoi(argv[++i]));
      continue;
    }
    try {
      if (windows > 0) {
        window_files.push_back(word);
        continue;
      }
      measure(word, options, repeats, quick);
    } catch (std::exception const& error) {
      std::printf("%s: %s\n", word.c_str(), error.what());
      ++failures;
    }
  }
  if (windows > 0) {
    try {
      measure_windows(window_files, options, windows, window_size, repeats);
    } catch (std::exception const& error) {
      std::printf("windows: %s\n", error.what());
      ++failures;
    }
  }
  return failures == 0 ? 0 : 1;
}
