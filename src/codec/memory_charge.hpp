// SPDX-License-Identifier: Apache-2.0
//
// Memory that a codec library takes while it decodes a block, beyond what the image tells (codec_scratch_bytes in
// read/), counts in the caller's budget.
#pragma once

#include "base/memory_budget.hpp"
#include "codec/codec.hpp"

#include <cstdint>

namespace terrazzo::codec {

// Decoders that use the workspace reserve what they need in `budget` from now on; null: they are not limited. The
// budget outlives the last block, or is replaced before it goes. Returns the one before.
MemoryBudget* charge_memory_to(Workspace& workspace, MemoryBudget* budget) noexcept;

// As long as this lives; then as before, since a read may run inside another one's progress function.
class MemoryCharge {
 public:
  MemoryCharge(Workspace& workspace, MemoryBudget& budget) noexcept
      : workspace_(workspace), before_(charge_memory_to(workspace, &budget)) {}
  ~MemoryCharge() { charge_memory_to(workspace_, before_); }
  MemoryCharge(MemoryCharge const&) = delete;
  MemoryCharge& operator=(MemoryCharge const&) = delete;

 private:
  Workspace& workspace_;
  MemoryBudget* before_;
};

// What libjxl holds of a block while it decodes it: planes of floats, three at least, as many coefficients, and some
// for its groups. Measured with 0.7 (2048 x 2048, RSS above the output): 13 to 16 bytes a pixel of one channel.
// Streams can ask for more: hidden frames may be larger than the image. libjxl refuses those only where it takes its
// memory from our hooks (JxlMemory), which 0.7 does not.
[[nodiscard]] std::uint64_t jxl_working_bytes(BlockShape shape, std::uint32_t samples_per_pixel) noexcept;

}  // namespace terrazzo::codec
