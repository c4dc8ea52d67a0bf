// SPDX-License-Identifier: Apache-2.0
//
// One overview level out of the level before it, a few rows at a time: which source rows a row needs, and what its
// pixels are. Nearest and average give GDAL's pixels (its ratio at odd sizes, its rounding, its treatment of nodata and
// masks); docs/writing.md states the rule and the tolerance of the others.
//
// Thread rule: a Reduction is immutable; reduce() may run on several threads over different rows.
#pragma once

#include "terrazzo/dtype.hpp"
#include "terrazzo/info.hpp"
#include "terrazzo/read.hpp"
#include "terrazzo/write.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace terrazzo::writing {

// Half open.
struct RowRange {
  std::uint32_t first = 0, last = 0;
};

struct ReductionSpec {
  std::uint32_t source_width = 0, source_height = 0;
  std::uint32_t width = 0, height = 0;  // of the result
  DType dtype = DType::u8;
  std::uint32_t bands = 1;
  Resampling method = Resampling::average;
  std::optional<Nodata> nodata{};  // of all bands; where there is one, NaN is missing too
  bool mask = false;  // a mask of the source comes along: 0 is invalid. It wins over nodata
  std::optional<std::uint32_t>
      alpha_band{};  // from 0: its zeros are invalid pixels, where neither mask nor nodata says
};

// Rows [first, first + view.height) of a level; the views have its full width. Mask: one uint8 band, 0 or 255.
struct LevelRows {
  std::uint32_t first = 0;
  HostView pixels{};
  HostView mask{};  // data null when there is none
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
