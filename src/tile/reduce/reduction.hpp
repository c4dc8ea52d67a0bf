// SPDX-License-Identifier: Apache-2.0
//
// Makes one overview level from a previous level, or a resampled part of a level, a few rows at a time: computes the
// source rows of a row, and its pixels. Nearest and average give GDAL's pixels (its ratio at odd sizes, its rounding,
// its treatment of nodata and masks); docs/writing.md states the rule and the tolerance of the others.
//
// Thread rule: a Reduction is immutable; reduce() may run on several threads over different rows.
#pragma once

#include "terrazzo/view.hpp"
#include "tile/level_rows.hpp"
#include "tile/reduce/poller.hpp"
#include "tile/reduction_spec.hpp"

#include <cstdint>
#include <memory>

namespace terrazzo::tile {

// A half-open range of rows.
struct RowRange {
  std::uint32_t first = 0, last = 0;
};

// Rows of a level, for writing or for reading, in memory of either kind.
template <MemoryKind kind>
using Rows = LevelRows<kind, void>;
template <MemoryKind kind>
using ConstRows = LevelRows<kind, void const>;

using HostRows = Rows<MemoryKind::host>;
using ConstHostRows = ConstRows<MemoryKind::host>;
using DeviceRows = Rows<MemoryKind::device>;
using ConstDeviceRows = ConstRows<MemoryKind::device>;

class Reduction {
 public:
  explicit Reduction(ReductionSpec const& spec);
  ~Reduction();
  Reduction(Reduction&&) noexcept;
  Reduction& operator=(Reduction&&) noexcept;

  // The source rows of result row `row`. Both ends are non-decreasing in `row`.
  [[nodiscard]] RowRange source_rows(std::uint32_t row) const;

  // At least the bytes that a call of reduce() allocates for a band.
  [[nodiscard]] std::uint64_t scratch_bytes() const;

  // Makes the rows of `result`: pixels, and the mask if the spec has one and the result wants it (its data is not
  // null). `source` holds at least their source_rows(). Calls `poll` now and then, even within a row.
  void reduce(ConstHostRows const& source, HostRows const& result, Poll const& poll = {}) const;

 private:
  struct Impl;
  std::unique_ptr<Impl const> impl_;
};

}  // namespace terrazzo::tile
