// SPDX-License-Identifier: Apache-2.0
//
// The team of coding/team/team.hpp on a device: the threads of a block.
#pragma once

#include "coding/team/team.hpp"

namespace terrazzo::gpu {

struct BlockTeam {
  static constexpr std::uint32_t kLanes = coding::kTeamLanes;
  template <class Body>
  __device__ void each(Body const& body) const {
    body(threadIdx.x);
    __syncthreads();
  }
  template <class Body>
  [[nodiscard]] __device__ bool any(Body const& body) const {
    return __syncthreads_or(body(threadIdx.x) ? 1 : 0) != 0;
  }
  template <class Value>
  [[nodiscard]] __device__ Value read(Value const& shared) const {
    Value const value = shared;
    __syncthreads();
    return value;
  }
};

}  // namespace terrazzo::gpu
