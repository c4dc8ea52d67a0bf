// SPDX-License-Identifier: Apache-2.0
//
// One resampling method for contiguous rows: the part of a Reduction that differs between methods. One file each:
// nearest.cpp, average.cpp, rms.cpp, convolution.cpp, rank.cpp.
#pragma once

#include "tile/convert_sample.hpp"
#include "tile/reduce/poller.hpp"
#include "tile/reduce/reduction.hpp"
#include "tile/reduce_marker.hpp"
#include "tile/reduce_pixel.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

namespace terrazzo::tile {

// The source rows of one result row of one band, and the destination of its pixels. Samples are aligned and contiguous.
struct BandRows {
  std::byte const* const* rows = nullptr;  // rows[0] is row `first_row` of the source
  std::uint8_t const* const* valid = nullptr;  // 0: the pixel does not count; null: the marker alone decides
  std::uint32_t first_row = 0;
  std::byte* out = nullptr;
  bool is_alpha = false;
  Poller& poller;
};

// State of a method between rows, within one call of reduce().
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
  // The state for one band; null if the method has none.
  [[nodiscard]] virtual std::unique_ptr<MethodState> make_state() const { return nullptr; }
  // At least the bytes that reduce_band() and the state allocate.
  [[nodiscard]] virtual std::uint64_t scratch_bytes() const { return 0; }
  virtual void reduce_band(std::uint32_t row, BandRows const& band, MethodState* state) const = 0;
  // Reduces `valid` of the source to 0 or 255; first_row as in reduce_band().
  virtual void reduce_mask(std::uint32_t row, std::uint8_t const* const* valid, std::uint32_t first_row,
                           std::uint8_t* out) const = 0;
};

[[nodiscard]] std::unique_ptr<Method> make_nearest(ReductionSpec const& spec);
[[nodiscard]] std::unique_ptr<Method> make_average(ReductionSpec const& spec);
[[nodiscard]] std::unique_ptr<Method> make_complex_average(ReductionSpec const& spec, bool of_squares);
[[nodiscard]] std::unique_ptr<Method> make_rms(ReductionSpec const& spec);
[[nodiscard]] std::unique_ptr<Method> make_rank(ReductionSpec const& spec);  // minimum, maximum, median, mode
[[nodiscard]] std::unique_ptr<Method> make_kernel(ReductionSpec const& spec);  // is_kernel()

// `of_type` for the type of the samples, or of their parts: a captureless lambda template that makes a method. It is
// called here and not by with_part_type(), which is noexcept, because a method allocates tables.
template <class OfType, class... Arguments>
[[nodiscard]] std::unique_ptr<Method> make_for_type(ReductionSpec const& spec, OfType, Arguments... arguments) {
  using Make = std::unique_ptr<Method> (*)(ReductionSpec const&, Arguments...);
  Make make = nullptr;
  with_part_type(spec.dtype, [&]<class T>(std::type_identity<T>) {
    make = [](ReductionSpec const& with, Arguments... more) -> std::unique_ptr<Method> {
      return OfType{}(std::type_identity<T>{}, with, more...);
    };
  });
  return make(spec, arguments...);
}

// The windows of all pixels along an axis.
[[nodiscard]] std::vector<AxisWindow> covered_windows(AxisMap const& map, std::uint32_t source_size,
                                                      std::uint32_t size);

// True if window i is pixels 2 i and 2 i + 1.
[[nodiscard]] bool are_pairs(std::vector<AxisWindow> const& windows) noexcept;

// 255 where any source pixel is valid: the mask of every method that uses whole windows.
void any_valid(std::vector<AxisWindow> const& columns, bool columns_are_pairs, std::uint32_t row_count,
               std::uint8_t const* const* valid, std::uint8_t* out) noexcept;

}  // namespace terrazzo::tile
