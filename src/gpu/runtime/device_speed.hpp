// SPDX-License-Identifier: Apache-2.0
//
// The speed of a GPU relative to the H200 on which the rates of the cost model were measured (docs/performance.md):
// the model multiplies its rates by these factors. No CUDA here.
#pragma once

#include <algorithm>
#include <string_view>

namespace terrazzo::gpu {

// Properties that determine the speed. 0: unknown, and taken as equal to the H200's.
struct DeviceProperties {
  int multiprocessors = 0;
  int clock_khz = 0;
  double link_gigatransfers = 0;  // PCI Express: gigatransfers per second of one lane
  int link_lanes = 0;
};

inline constexpr DeviceProperties kH200{
    .multiprocessors = 132, .clock_khz = 1'980'000, .link_gigatransfers = 32, .link_lanes = 16};

struct DeviceSpeed {
  double all_tiles = 1;  // of kernels that occupy the whole GPU: multiprocessors and clock
  double one_tile = 1;   // of a tile that one multiprocessor decodes: clock
  double link = 1;       // of copies between host and device
};

[[nodiscard]] constexpr DeviceSpeed speed_of(DeviceProperties const& properties) noexcept {
  auto const ratio = [](double value, double h200) {
    return value > 0 ? std::clamp(value / h200, 1.0 / 64, 64.0) : 1.0;
  };
  double const clock = ratio(properties.clock_khz, kH200.clock_khz);
  return {.all_tiles = clock * ratio(properties.multiprocessors, kH200.multiprocessors),
          .one_tile = clock,
          .link = ratio(properties.link_gigatransfers, kH200.link_gigatransfers) *
                  ratio(properties.link_lanes, kH200.link_lanes)};
}

// The number at the front of a file of Linux's PCI folders, such as "32.0 GT/s PCIe" or "16"; 0 if there is none.
[[nodiscard]] double leading_number(std::string_view text) noexcept;

}  // namespace terrazzo::gpu
