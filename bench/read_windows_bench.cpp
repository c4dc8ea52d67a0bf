// SPDX-License-Identifier: Apache-2.0
//
// read_windows_bench FOLDER [WINDOWS [SIZE [REPEATS]]]: random windows of the GeoTIFFs in FOLDER into one array, by a
// loop of reads into its items and by one read_windows(). An empty FOLDER is filled with 32 files of 2048 x 2048 uint16
// (Deflate, predictor 2, tiles of 256) first. Both results are compared before anything is timed. Prints one JSON
// object a line: median seconds of REPEATS runs (5), with the tile cache and without it.
#include "json_line.hpp"
#include "terrazzo/read.hpp"
#include "terrazzo/settings.hpp"
#include "terrazzo/write.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

namespace {

using namespace terrazzo;

// The same windows on every machine.
class Numbers {
 public:
  std::uint32_t below(std::uint32_t end) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<std::uint32_t>(state_ >> 33) % end;
  }

 private:
  std::uint64_t state_ = 1;
};

// Slopes with noise in the low bits: Deflate halves it, as it does real heights.
void make_files(std::filesystem::path const& folder) {
  constexpr std::uint32_t kSide = 2048;
  Numbers numbers;
  for (std::uint32_t file = 0; file < 32; ++file) {
    HostArray pixels(DType::u16, 1, kSide, kSide);
    auto* const values = reinterpret_cast<std::uint16_t*>(pixels.bytes().data());
    for (std::uint32_t row = 0; row < kSide; ++row) {
      for (std::uint32_t column = 0; column < kSide; ++column) {
        values[row * kSide + column] = static_cast<std::uint16_t>(row * 3 + column * 2 + file + numbers.below(16));
      }
    }
    WriteOptions options;
    options.dtype = DType::u16;
    options.compression = Compression::deflate;
    options.tile_size = {256, 256};
    write((folder / ("tile" + std::to_string(file) + ".tif")).string(), pixels.view(), options);
  }
}

double median_s(int repeats, auto const& work) {
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) {
    auto const start = std::chrono::steady_clock::now();
    work();
    times.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

void read_in_a_loop(std::vector<WindowOf> const& windows, HostBatch& into) {
  for (std::uint32_t i = 0; i < into.count(); ++i) {
    ReadRequest request;
    request.window = windows[i].window;
    read_into(windows[i].dataset, request, into.item(i));
  }
}

int run(std::filesystem::path const& folder, std::uint32_t count, std::uint32_t size, int repeats) {
  if (std::filesystem::is_empty(folder)) { make_files(folder); }
  std::vector<std::filesystem::path> paths;
  for (auto const& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".tif") { paths.push_back(entry.path()); }
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Dataset> datasets;
  for (auto const& path : paths) { datasets.push_back(open(path.string())); }
  Numbers numbers;
  std::vector<WindowOf> windows;
  for (std::uint32_t i = 0; i < count; ++i) {
    Dataset const& dataset = datasets[numbers.below(static_cast<std::uint32_t>(datasets.size()))];
    windows.push_back({dataset,
                       {numbers.below(dataset.info().width - size + 1), numbers.below(dataset.info().height - size + 1),
                        size, size}});
  }
  ReadReport report;
  HostBatch at_once = read_windows(windows, {}, &report);
  HostBatch one_by_one(at_once.dtype(), count, at_once.bands(), size, size);
  read_in_a_loop(windows, one_by_one);
  if (std::memcmp(at_once.bytes().data(), one_by_one.bytes().data(), at_once.bytes().size()) != 0) {
    std::fprintf(stderr, "read_windows differs from a loop of reads\n");
    return 1;
  }
  for (bool const cached : {true, false}) {
    Settings changed = settings();
    if (!cached) { changed.tile_cache_bytes = 0; }
    set_settings(changed);
    double const loop_s = median_s(repeats, [&] { read_in_a_loop(windows, one_by_one); });
    double const once_s = median_s(repeats, [&] { read_windows(windows, {}, at_once.view()); });
    bench::JsonLine("read_windows")
        .put("files", std::uint64_t{paths.size()})
        .put("windows", std::uint64_t{count})
        .put("size_px", std::uint64_t{size})
        .put("tile_cache", cached)
        .put("tiles", report.tiles)
        .put("result_bytes", std::uint64_t{at_once.bytes().size()})
        .put("loop_s", loop_s)
        .put("read_windows_s", once_s)
        .put("ratio", loop_s / once_s)
        .print();
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 5) {
    std::fprintf(stderr, "usage: read_windows_bench FOLDER [WINDOWS [SIZE [REPEATS]]]\n");
    return 2;
  }
  auto const number = [&](int index, int otherwise) {
    return argc > index ? std::max(1, std::atoi(argv[index])) : otherwise;
  };
  try {
    std::filesystem::create_directories(argv[1]);
    return run(argv[1], static_cast<std::uint32_t>(number(2, 10'000)), static_cast<std::uint32_t>(number(3, 128)),
               number(4, 5));
  } catch (std::exception const& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
