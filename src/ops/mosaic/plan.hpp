// SPDX-License-Identifier: Apache-2.0
//
// The state of a MosaicPlan.
#pragma once

#include "ops/mosaic/grid.hpp"
#include "ops/mosaic/inputs.hpp"
#include "terrazzo/mosaic.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace terrazzo {

struct MosaicPlan::Impl {
  MosaicRequest request;
  ops::Inputs inputs;
  ops::Grid grid;
  std::vector<ops::GridPlace> places;  // one for each input, as `targets`
  std::vector<Window> targets;  // in pixels of the mosaic; empty for inputs outside
  std::size_t used_count = 0;
  bool has_gaps = false;

  [[nodiscard]] DType dtype() const noexcept { return inputs.like_first.dtype; }
  // The index of the alpha band among the requested bands.
  [[nodiscard]] std::optional<std::size_t> alpha() const noexcept {
    for (std::size_t i = 0; i < inputs.bands.size(); ++i) {
      if (inputs.first.bands[inputs.bands[i] - 1].color == ColorInterpretation::alpha) { return i; }
    }
    return std::nullopt;
  }
};

}  // namespace terrazzo
