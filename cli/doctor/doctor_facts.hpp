// SPDX-License-Identifier: Apache-2.0
//
// The facts that `terrazzo doctor` collects: plain values, so that tests can report on any
// machine.
#pragma once

#include "terrazzo/codecs.hpp"
#include "terrazzo/device.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace terrazzo::cli {

// An environment variable that is set.
struct EnvironmentSetting {
  std::string name, value;
  std::string meaning;  // empty: unknown to the library, perhaps misspelt
};

struct DoctorFacts {
  std::string version;  // version of terrazzo
  DeviceState device;
  std::uint64_t device_budget_bytes = 0;  // explicit setting; 0: device.default_budget_bytes
  unsigned cores = 0, threads = 0;        // cores of the machine; threads of one read
  std::uint64_t memory_bytes = 0;         // available to this process
  std::uint64_t memory_limit_bytes = 0;   // limit of a read
  std::uint64_t tile_cache_bytes = 0;
  std::vector<CodecInfo> codecs;
  bool proj = false;  // PROJ was found and has EPSG codes
  std::vector<EnvironmentSetting> environment;
};

// Collects the facts. Works without a GPU, without a driver and in a build without CUDA.
[[nodiscard]] DoctorFacts gather_facts();

// The settings of the library among these "NAME=value" lines, in alphabetical order.
[[nodiscard]] std::vector<EnvironmentSetting> settings_among(char const* const* environment);

}  // namespace terrazzo::cli
