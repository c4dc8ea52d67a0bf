// SPDX-License-Identifier: Apache-2.0
//
// `terrazzo bench read --device`: file to GPU memory, and what holds it up.
#pragma once

#include "bench_work.hpp"
#include "json_output.hpp"

#include "terrazzo/device.hpp"

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
  std::string what;  // the bytes are of
};

// In the order in which bytes pass them; empty when the host decoded all there was.
[[nodiscard]] std::vector<BenchStage> stages_of(StageTimes const& times);

// What was measured.
struct DeviceBench {
  std::string file, gpu;
  EnginePlan engine{};
  std::string codec;
  std::uint32_t predictor = 1;
  std::uint32_t bands = 0, height = 0, width = 0;  // of the result, or of each window
  DType dtype = DType::u8;
  std::uint64_t tiles = 0;
  std::uint32_t windows = 1;
  std::uint64_t bytes = 0;  // of pixels, all windows together
  unsigned threads = 0;
  double first_s = 0;  // the first read of the process, with GPU context, all libraries and memory
  Timing steady;
  std::optional<StageTimes> stages;  // of a whole read
  std::optional<Timing> host;        // the same windows by the host engine, one after the other
};

[[nodiscard]] Json to_json(DeviceBench const& bench);
void print(DeviceBench const& bench, std::ostream& out);

// `limit` unless a tensor of so many windows fits free device memory, and its rows can be counted in 32 bits.
void check_windows_fit(std::size_t count, std::uint64_t window_bytes, std::uint32_t height, std::uint64_t free_bytes);

struct DeviceBenchOptions {
  std::string file;
  unsigned repeat = 5;
  std::vector<Window> windows;  // none: all of the request
};

// The request must ask for the device engine. Throws `device` or `unsupported` where there is no GPU.
[[nodiscard]] DeviceBench bench_device_read(Dataset const& dataset, ReadRequest const& request,
                                            DeviceBenchOptions const& options);

}  // namespace terrazzo::cli
