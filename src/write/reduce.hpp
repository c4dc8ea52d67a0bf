// SPDX-License-Identifier: Apache-2.0
//
// One overview level out of the level before it, a few rows at a time: which source rows a row needs, and what its
// pixels are. Nearest and average give GDAL's pixels (its ratio at odd sizes, its rounding, its treatment of nodata and
// masks); docs/writing.md states the rule and the tolerance of the others.
//
// Thread rule: a Reduction is immutable; reduce() may run on several threads over different rows.
#pragma once

#include "terrazzo/read.hpp"
#include "tile/reduction_spec.hpp"

#include <cstdint>
#include <memory>

namespace terrazzo::writing {

// Half open.
struct RowRange {
  std::uint32_t first = 0, last = 0;
};

using ReductionSpec = tile::ReductionSpec;

enum class Memory : std::uint8_t { host, device };

// Rows [first, first + view.height) of a level; the views have its full width. Mask: one uint8 band, 0 or 255. Where
// the memory is a device's, the views hold device pointers.
struct LevelRows {
  std::uint32_t first = 0;
  HostView pixels{};
  HostView mask{};  // data null when there is none
  Memory memory = Memory::host;
};

class Reduction {
 public:
  explicit Reduction(ReductionSpec const& spec);
  ~Reduction();
  Reduction(Reduction&&) noexcept;
  Reduction& operator=(Reduction&&) noexcept;

  // Source rows that row `row` of the result is made from. Both ends never decrease as `row` grows.
  [[nodiscard]] RowRange source_rows(std::uint32_t row) const;

  // Makes the rows of `result` (pixels, and mask where the spec has one). `source` holds at least their source_rows().
  void reduce(LevelRows const& source, LevelRows const& result) const;

 private:
  struct Impl;
  std::unique_ptr<Impl const> impl_;
};

// The size of an overview that is `factor` times smaller, as GDAL: rounded up.
[[nodiscard]] inline std::uint32_t overview_size(std::uint32_t size, std::uint32_t factor) noexcept {
  return size / factor + (size % factor != 0 ? 1 : 0);
}

}  // namespace terrazzo::writing
