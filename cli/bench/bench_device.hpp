// SPDX-License-Identifier: Apache-2.0
//
// `terrazzo bench read --device`: reads into GPU memory, and the stage that limits them.
#pragma once

#include "bench/bench_work.hpp"
#include "output/json_output.hpp"

#include "terrazzo/device.hpp"
#include "terrazzo/profile.hpp"

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace terrazzo::cli {

// One stage of a device read, run alone.
struct BenchStage {
  std::string name;
  double seconds = 0;
  std::uint64_t bytes = 0;
  std::string what;  // kind of the bytes
};

// In the order of the pipeline; empty if the host decoded all tiles.
[[nodiscard]] std::vector<BenchStage> stages_of(StageTimes const& times);

// The measurements.
struct DeviceBench {
  std::string file, gpu;
  EnginePlan engine{};
  std::string codec;
  std::uint32_t predictor = 1;
  std::uint32_t bands = 0, height = 0, width = 0;  // size of the result, or of each window
  DType dtype = DType::u8;
  std::uint64_t tiles = 0;
  std::uint32_t windows = 1;
  std::uint64_t bytes = 0;  // bytes of pixels, all windows together
  unsigned threads = 0;
  double first_s = 0;  // the first read of the process: creates the GPU context, loads libraries, allocates memory
  Timing steady;
  std::optional<StageTimes> stages;  // times of a whole read
  std::optional<Timing> host;        // the same windows by the host engine, one by one
};

[[nodiscard]] Json to_json(DeviceBench const& bench);
void print(DeviceBench const& bench, std::ostream& out);

// Throws `limit` unless a tensor of so many windows fits the free device memory and its rows fit 32 bits.
void check_windows_fit(std::size_t count, std::uint64_t window_bytes, std::uint32_t height, std::uint64_t free_bytes);

struct DeviceBenchOptions {
  std::string file;
  unsigned repeat = 5;
  std::vector<Window> windows;  // empty: the whole request
};

// REQUIRES: the request selects the device engine. Throws `device` or `unsupported` without a GPU.
[[nodiscard]] DeviceBench bench_device_read(Dataset const& dataset, ReadRequest const& request,
                                            DeviceBenchOptions const& options);

}  // namespace terrazzo::cli
