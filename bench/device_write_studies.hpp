// SPDX-License-Identifier: Apache-2.0
//
// Measurements of device_write_bench beside its table: memory of a streamed write, of a very tall one, and overviews.
#pragma once

#include "terrazzo/device.hpp"
#include "terrazzo/write.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace terrazzo::bench {

// The input of a write: the raster on the device, and options that describe it.
struct Subject {
  DeviceArray raster;
  WriteOptions options;
};

struct Times {
  std::vector<double> seconds{};
  [[nodiscard]] double best() const { return *std::ranges::min_element(seconds); }
  [[nodiscard]] double median() const {
    std::vector<double> sorted = seconds;
    std::ranges::sort(sorted);
    return sorted[sorted.size() / 2];
  }
};

template <class Work>
double seconds_of(Work const& work) {
  auto const start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// A sink that can be written anywhere and keeps nothing: the engine without the disk.
[[nodiscard]] std::shared_ptr<ByteSink> nowhere();

// Starts counting device_memory_use().peak_bytes anew, with no scratch of earlier work in it.
void forget_device_memory();

// Streaming: the same file out of one piece, and out of bands of 512 rows under small budgets, from device
// and from host memory. `peak_bytes` is the writer's memory without the caller's rows, `held_bytes` with them: the
// raster, or one band.
void measure_streaming(Subject const& subject, std::vector<Compression> const& codecs);

// Rows of the raster again and again, until `total_bytes` are written to nowhere: memory of the process on the way.
void measure_tall(Subject const& subject, std::vector<Compression> const& codecs, std::uint64_t total_bytes);

// Cost of overviews: the time of an uncompressed GeoTIFF into a sink that drops the bytes, with overviews (2, 4, 8, ...
// to one tile) minus without. It covers reading the raster once more on the device, reducing it, and copying a third of
// its bytes back; no codec and no disk.
void measure_overviews(Subject const& subject, int repeats);

}  // namespace terrazzo::bench
