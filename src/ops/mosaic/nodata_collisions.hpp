// SPDX-License-Identifier: Apache-2.0
//
// Finds inputs whose valid samples equal the mosaic's nodata value, and so become missing.
#pragma once

#include "ops/mosaic/canvas.hpp"
#include "ops/mosaic/plan.hpp"
#include "terrazzo/read.hpp"

#include <atomic>
#include <cstdint>
#include <optional>

namespace terrazzo::ops {

// Thread-safe. The plan outlives the object.
class NodataCollisions {
 public:
  NodataCollisions(MosaicPlan::Impl const& plan, std::optional<Nodata> nodata);

  // True if only a look at the input's samples can tell: the input has no nodata value. A note of the plan names those
  // with another one.
  [[nodiscard]] bool are_possible(std::uint32_t input) const noexcept;

  // Looks at a rectangle of samples of such an input; `all_valid`: without regard to their validity.
  void look(std::uint32_t input, Patch& patch, Window const& part, bool all_valid);

  // The first input, in the order of the list, that has such a sample.
  [[nodiscard]] std::optional<std::uint32_t> first_input() const noexcept;

 private:
  [[nodiscard]] bool is_any(Patch& patch, Window const& part, bool all_valid) const;

  MosaicPlan::Impl const& plan_;
  std::optional<Nodata> nodata_;
  std::atomic<std::uint32_t> first_{UINT32_MAX};
};

}  // namespace terrazzo::ops
