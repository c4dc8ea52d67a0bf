// SPDX-License-Identifier: Apache-2.0
//
// Reads the part of one input that lies in a band of rows: samples in the type of the mosaic, and their validity.
#pragma once

#include "base/memory_budget.hpp"
#include "ops/mosaic/canvas.hpp"
#include "ops/mosaic/pieces.hpp"
#include "ops/mosaic/plan.hpp"
#include "terrazzo/read.hpp"

#include <atomic>
#include <optional>

namespace terrazzo::ops {

// Thread-safe. The arguments outlive the object.
class PieceReader {
 public:
  // `nodata` is the value of missing pixels in the mosaic.
  PieceReader(MosaicPlan::Impl const& plan, std::optional<Nodata> nodata, std::atomic<bool> const* cancel,
              MemoryBudget& budget);

  // True if the samples of an input can become those of the mosaic without regard to their validity: all of them are
  // valid, or missing ones are read as the mosaic's nodata value.
  [[nodiscard]] bool is_finished_by_reading(std::uint32_t input) const noexcept;

  // Reads the samples of a piece. Missing ones have the mosaic's nodata value, unless a mask or alpha defines them.
  void read_samples(Dataset const& dataset, Piece const& piece, HostView const& destination, unsigned threads,
                    ReadReport& report) const;

  // Sets the validity of a patch that holds the samples of the piece.
  void find_valid(Dataset const& dataset, Piece const& piece, Patch& patch, unsigned threads, ReadReport& report) const;

 private:
  [[nodiscard]] ReadRequest request_for(Piece const& piece, unsigned threads) const;
  [[nodiscard]] std::optional<Nodata> marker_of(Input const& input) const;
  void find_valid_values(Input const& input, Patch& patch) const;
  void find_valid_alpha(std::size_t alpha, Patch& patch) const;
  void read_mask(Dataset const& dataset, Piece const& piece, Patch& patch, unsigned threads, ReadReport& report) const;

  MosaicPlan::Impl const& plan_;
  std::optional<Nodata> nodata_;
  std::atomic<bool> const* cancel_;
  MemoryBudget& budget_;
};

}  // namespace terrazzo::ops
