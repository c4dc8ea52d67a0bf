// SPDX-License-Identifier: Apache-2.0
//
// For benchmarks (`terrazzo bench read --device`, bench/): the time of each stage of a device read. A read runs its
// stages at the same time; the slowest stage is the limit of its speed.
#pragma once

#include "terrazzo/read.hpp"

#include <cstdint>

#pragma GCC visibility push(default)
namespace terrazzo {

// Time of each stage of a device read when the stages run one after the other, batch by batch. kvikIO fetches and
// uploads in one step: with DeviceFetch::kvikio, `fetch_s` and `upload_s` are 0.
struct StageTimes {
  double fetch_s = 0, upload_s = 0, decode_s = 0, place_s = 0;
  std::uint64_t fetched_bytes = 0, decoded_bytes = 0;
  std::uint64_t batches = 0, device_tiles = 0, host_tiles = 0;
};
[[nodiscard]] StageTimes profile_device_read(Dataset const& dataset, ReadRequest const& request = {});

}  // namespace terrazzo
#pragma GCC visibility pop
