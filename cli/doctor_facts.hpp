// SPDX-License-Identifier: Apache-2.0
//
// What `terrazzo doctor` finds on this machine: plain values, so that the report can be tested for machines that are
// not at hand.
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
  std::string meaning;  // empty: the library knows no such setting, a typo perhaps
};

struct DoctorFacts {
  std::string version;  // terrazzo's
  DeviceState device;
  std::uint64_t device_budget_bytes = 0;  // set by hand; 0: device.default_budget_bytes
  unsigned cores = 0, threads = 0;        // there are; one read uses
  std::uint64_t memory_bytes = 0;         // that this process may hope for
  std::uint64_t memory_limit_bytes = 0;   // of a read
  std::uint64_t tile_cache_bytes = 0;
  std::vector<CodecInfo> codecs;
  bool proj = false;  // PROJ was found and knows EPSG codes
  std::vector<EnvironmentSetting> environment;
};

// Asks the machine. Works without a GPU, without a driver and in a build without CUDA.
[[nodiscard]] DoctorFacts gather_facts();

// Of these "NAME=value" lines, those that are settings of ours, in alphabetical order.
[[nodiscard]] std::vector<EnvironmentSetting> settings_among(char const* const* environment);

}  // namespace terrazzo::cli
