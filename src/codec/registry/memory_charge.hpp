// SPDX-License-Identifier: Apache-2.0
//
// Counts memory that a codec library allocates while it decodes a block, beyond the size that the image determines
// (codec_scratch_bytes in read/), in the caller's budget.
#pragma once

#include "base/memory_budget.hpp"
#include "codec/registry/codec.hpp"

#include <cstdint>

namespace terrazzo::codec {

// From now on, decoders that use the workspace reserve their memory in `budget`; null: unlimited. The budget outlives
// the last block, or is replaced before it is destroyed. Returns the previous one.
MemoryBudget* charge_memory_to(Workspace& workspace, MemoryBudget* budget) noexcept;

// Sets the budget for its lifetime and then restores the previous one, since a read may run inside another read's
// progress function.
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

// Memory of libjxl while it decodes a block: at least three planes of floats, as many coefficients, and some for its
// groups. Measured with 0.7 (2048 x 2048, RSS above the output): 13 to 16 bytes per pixel of one channel. Streams can
// require more: hidden frames may be larger than the image. libjxl refuses those only if it allocates through our hooks
// (JxlMemory), which 0.7 does not.
[[nodiscard]] std::uint64_t jxl_working_bytes(BlockShape shape, std::uint32_t samples_per_pixel) noexcept;

}  // namespace terrazzo::codec
