// SPDX-License-Identifier: Apache-2.0
//
// The parts of inputs that lie in a band of rows of the mosaic.
#pragma once

#include "terrazzo/read.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace terrazzo::ops {

struct Piece {
  std::uint32_t input = 0;  // index
  Window target{};  // in pixels of the mosaic
  bool alone = false;  // no other piece of the band has a pixel of it
};

// Goes through the mosaic once, from top to bottom. Keeps only the inputs of the current band at hand.
class PieceSweep {
 public:
  // `targets` has one window for each input, empty for an input outside the mosaic.
  explicit PieceSweep(std::span<Window const> targets);

  // The pieces of rows [first, first + rows), in the order of the inputs. REQUIRES: first is not above the last call's.
  [[nodiscard]] std::vector<Piece> next(std::uint32_t first, std::uint32_t rows);

 private:
  std::span<Window const> targets_;
  std::vector<std::uint32_t> by_row_;  // inputs in the order of their first rows
  std::size_t begun_ = 0;  // of by_row_
  std::vector<std::uint32_t> active_;
};

}  // namespace terrazzo::ops
