// SPDX-License-Identifier: Apache-2.0
//
// A tile that compresses as terrain does, for the parts of vendor_device_test.
#pragma once

#include "device_test.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace terrazzo::gpu::device_test {

// Elevation in centimetres as float32, with predictor 3 applied: what a DEM's tile holds before compression.
inline std::vector<std::byte> terrain_tile(std::uint32_t edge_px, std::uint64_t seed) {
  Noise noise(seed);
  std::vector<float> heights(std::size_t{edge_px} * edge_px);
  double const phase = static_cast<double>(noise.next() % 1000) / 100;
  for (std::uint32_t y = 0; y < edge_px; ++y) {
    for (std::uint32_t x = 0; x < edge_px; ++x) {
      double const smooth =
          800 + 300 * std::sin(phase + x * 0.013) * std::cos(phase + y * 0.017) + 20 * std::sin(x * 0.21 + y * 0.13);
      double const rough = static_cast<double>(noise.next() % 64) / 100;
      heights[std::size_t{y} * edge_px + x] = static_cast<float>(std::round((smooth + rough) * 100) / 100);
    }
  }
  std::size_t const row = std::size_t{edge_px} * 4;
  std::vector<std::byte> out(row * edge_px);
  for (std::uint32_t y = 0; y < edge_px; ++y) {
    std::byte* const to = out.data() + y * row;
    for (std::uint32_t x = 0; x < edge_px; ++x) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, &heights[std::size_t{y} * edge_px + x], 4);
      for (std::uint32_t k = 0; k < 4; ++k) { to[k * edge_px + x] = static_cast<std::byte>(bits >> (24 - 8 * k)); }
    }
    for (std::size_t i = row - 1; i > 0; --i) {
      to[i] = static_cast<std::byte>(static_cast<unsigned>(to[i]) - static_cast<unsigned>(to[i - 1]));
    }
  }
  return out;
}

}  // namespace terrazzo::gpu::device_test
