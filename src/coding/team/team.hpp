// SPDX-License-Identifier: Apache-2.0
//
// Teams of threads that decode one tile together, on host and device.
//
// A team runs a body for each of its kLanes lanes: each(body) calls body(lane) and returns when all lanes are done.
// any(body) does the same and returns true if body(lane) was true for a lane. read(x) gives every lane the value of x,
// which lanes may change afterwards. All lanes take the same way between these calls, so whatever decides the way comes
// from read() or any(). A lane has its own variables: a body that changes one changes it for its lane only.
//
// On a device a team is a block of threads (gpu/decode); on the host the lanes run one after the other, so that tests
// and fuzzers run the code of the kernels. Tests also run lanes in other orders, and as threads.
#pragma once

#include "base/host_device.hpp"

#include <cstdint>

namespace terrazzo::coding {

inline constexpr std::uint32_t kTeamLanes = 128;

struct LanesInTurn {
  static constexpr std::uint32_t kLanes = kTeamLanes;
  template <class Body>
  TERRAZZO_HOST_DEVICE void each(Body const& body) const noexcept {
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) { body(lane); }
  }
  template <class Body>
  [[nodiscard]] TERRAZZO_HOST_DEVICE bool any(Body const& body) const noexcept {
    bool result = false;
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) { result = body(lane) || result; }
    return result;
  }
  template <class Value>
  [[nodiscard]] TERRAZZO_HOST_DEVICE Value read(Value const& shared) const noexcept {
    return shared;
  }
};

// A number for each lane, and the sums of all numbers up to each lane's.
struct LaneSums {
  std::uint32_t sums[2][kTeamLanes];

  // `values` has a number for each lane. Returns the sums; they stay until the next call.
  template <class Team>
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t const* of(Team const& team, std::uint32_t const* values) noexcept {
    team.each([&](std::uint32_t lane) { sums[0][lane] = values[lane]; });
    std::uint32_t round = 0;
    // Each round doubles how many numbers are in a sum.
    for (std::uint32_t step = 1; step < Team::kLanes; step *= 2, ++round) {
      std::uint32_t const* const from = sums[round % 2];
      std::uint32_t* const to = sums[(round + 1) % 2];
      team.each([&](std::uint32_t lane) { to[lane] = from[lane] + (lane >= step ? from[lane - step] : 0); });
    }
    return sums[round % 2];
  }
};

}  // namespace terrazzo::coding
