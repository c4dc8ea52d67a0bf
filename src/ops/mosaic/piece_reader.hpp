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

  // Reads the samples of a piece of such an input. Missing ones have the mosaic's nodata value.
  void read_finished(Dataset const& dataset, Piece const& piece, HostView const& destination, unsigned threads,
                     ReadReport& report) const;

  // Reads the samples of a piece and their validity. Missing samples have any value.
  void read_patch(Dataset const& dataset, Piece const& piece, Patch& patch, unsigned threads, ReadReport& report) const;

 private:
  [[nodiscard]] ReadRequest request_for(unsigned threads) const;
  void read_samples(Dataset const& dataset, Piece const& piece, ReadRequest const& request, HostView const& destination,
                    ReadReport& report) const;
  void read_values(Dataset const& dataset, Piece const& piece, Patch& patch, unsigned threads,
                   ReadReport& report) const;
  void find_valid_values(Dataset const& dataset, HostView const& stored, Patch& patch) const;
  void hide_transparent(std::size_t alpha, Patch& patch) const;
  void hide_masked(Dataset const& dataset, Piece const& piece, Patch& patch, unsigned threads,
                   ReadReport& report) const;

  MosaicPlan::Impl const& plan_;
  std::optional<Nodata> nodata_;
  std::atomic<bool> const* cancel_;
  MemoryBudget& budget_;
};

}  // namespace terrazzo::ops
