// SPDX-License-Identifier: Apache-2.0
//
// Chooses the engine for a read into device memory, with a cost model: rates measured on an H200, scaled by the speed
// of the GPU that reads. Needs no GPU.
#pragma once

#include "gpu/runtime/device_speed.hpp"
#include "read/device/work.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace terrazzo::reading {

struct EngineChoice {
  Engine engine = Engine::host;  // host or device
  std::string reason{};          // for people: "host: 3 tiles decode in 0.2 ms there, 0.6 ms on the device"
  double host_s = 0, device_s = 0;  // the model's estimates; 0 if the model was not used
};

// The input of the model.
struct EngineLoad {
  DeviceMethod method = DeviceMethod::host;
  std::uint64_t tiles = 0;
  std::uint64_t decoded_bytes = 0;  // sum over all tiles
  std::uint64_t result_bytes = 0;
  unsigned threads = 1;
  gpu::DeviceSpeed speed{};  // of the GPU
};
[[nodiscard]] double expected_host_s(EngineLoad const& load) noexcept;
[[nodiscard]] double expected_device_s(EngineLoad const& load) noexcept;

// The best share of tiles for the host's threads while the device decodes the others: the links fill the device first,
// then the cores are free, and a device decoder's time hardly depends on the number of its tiles.
[[nodiscard]] double best_host_share(EngineLoad const& load, std::uint64_t compressed_bytes) noexcept;

// For a result in device memory. Honours request.engine and TERRAZZO_ENGINE.
[[nodiscard]] EngineChoice choose_engine(std::span<ReadJob const> jobs, ReadRequest const& request);

// The log message for `automatic` choosing the host; one text for all choices of the cost model.
[[nodiscard]] std::string host_note(EngineChoice const& choice);

}  // namespace terrazzo::reading
