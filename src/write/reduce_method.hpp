// SPDX-License-Identifier: Apache-2.0
//
// What one resampling method does with rows that lie contiguous in memory: the part of a Reduction that differs between
// methods. One file each: reduce_nearest.cpp, reduce_average.cpp, reduce_rms.cpp, reduce_kernel.cpp, reduce_rank.cpp.
#pragma once

#include "tile/reduce_marker.hpp"
#include "tile/reduce_pixel.hpp"
#include "write/reduce.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace terrazzo::writing {

// The source rows of one result row of one band, and where its pixels go. Samples are aligned and side by side.
struct BandRows {
  std::byte const* const* rows = nullptr;  // rows[0] is row `first_row` of the source
  std::uint8_t const* const* valid = nullptr;  // 0: does not count; null: the marker alone decides
  std::uint32_t first_row = 0;
  std::byte* out = nullptr;
};

// What a method keeps from one row to the next within one call of reduce().
struct MethodState {
  MethodState() = default;
  virtual ~MethodState() = default;
  MethodState(MethodState const&) = delete;
  MethodState& operator=(MethodState const&) = delete;
};

class Method {
 public:
  Method() = default;
  virtual ~Method() = default;
  Method(Method const&) = delete;
  Method& operator=(Method const&) = delete;

  [[nodiscard]] virtual RowRange source_rows(std::uint32_t row) const = 0;
  // For one band; null where nothing is kept.
  [[nodiscard]] virtual std::unique_ptr<MethodState> make_state() const { return nullptr; }
  virtual void reduce_band(std::uint32_t row, BandRows const& band, MethodState* state) const = 0;
  // `valid` of the source, first_row as in reduce_band(), into 0 or 255.
  virtual void reduce_mask(std::uint32_t row, std::uint8_t const* const* valid, std::uint32_t first_row,
                           std::uint8_t* out) const = 0;
};

[[nodiscard]] std::unique_ptr<Method> make_nearest(ReductionSpec const& spec);
[[nodiscard]] std::unique_ptr<Method> make_average(ReductionSpec const& spec);
[[nodiscard]] std::unique_ptr<Method> make_complex_average(ReductionSpec const& spec, bool of_squares);
[[nodiscard]] std::unique_ptr<Method> make_rms(ReductionSpec const& spec);
[[nodiscard]] std::unique_ptr<Method> make_rank(ReductionSpec const& spec);  // minimum, maximum, median, mode
[[nodiscard]] std::unique_ptr<Method> make_kernel(ReductionSpec const& spec);  // bilinear, cubic, lanczos

// The windows of all pixels along an axis.
[[nodiscard]] std::vector<tile::AxisWindow> covered_windows(std::uint32_t source_size, std::uint32_t size);

// 255 where any source pixel is valid: the mask of every method that looks at whole windows.
void any_valid(std::vector<tile::AxisWindow> const& columns, std::uint32_t row_count, std::uint8_t const* const* valid,
               std::uint8_t* out) noexcept;

}  // namespace terrazzo::writing
