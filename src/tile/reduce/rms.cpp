// SPDX-License-Identifier: Apache-2.0
//
// The root of the mean of the squares, over the windows and with the weights of average.
#include "tile/convert_sample.hpp"
#include "tile/reduce/method.hpp"

namespace terrazzo::tile {
namespace {

template <class T>
class Rms final : public Method {
 public:
  explicit Rms(ReductionSpec const& spec)
      : columns_(covered_windows(spec.column_map(), spec.source_width, spec.width)),
        rows_(covered_windows(spec.row_map(), spec.source_height, spec.height)),
        columns_are_pairs_(are_pairs(columns_)),
        marker_(marker_of<T>(spec)) {
    if (marker_) { avoided_ = avoid_marker(*marker_); }
  }

  [[nodiscard]] RowRange source_rows(std::uint32_t row) const override { return {rows_[row].first, rows_[row].last}; }

  void reduce_band(std::uint32_t row, BandRows const& band, MethodState*) const override {
    auto* const out = reinterpret_cast<T*>(band.out);
    AxisWindow const& y = rows_[row];
    T const nothing = marker_.value_or(T{});
    auto const sample = [&](std::uint32_t column, std::uint32_t source_row) {
      return reinterpret_cast<T const*>(band.rows[source_row - band.first_row])[column];
    };
    auto const valid = [&](std::uint32_t column, std::uint32_t source_row) {
      return band.valid != nullptr ? band.valid[source_row - band.first_row][column] != 0
                                   : !is_marker(sample(column, source_row), nothing);
    };
    bool const all = band.valid == nullptr && !marker_;
    if (all && columns_are_pairs_ && y.size() == 2) { return reduce_fours(band); }
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      out[i] = all ? rms_of_all<T>(columns_[i], y, avoided_, sample)
                   : rms_of_valid<T>(columns_[i], y, avoided_, nothing, sample, valid);
    }
  }

  void reduce_mask(std::uint32_t row, std::uint8_t const* const* valid, std::uint32_t,
                   std::uint8_t* out) const override {
    any_valid(columns_, columns_are_pairs_, rows_[row].size(), valid, out);
  }

 private:
  // Two by two pixels have equal weights, even in the first and last row of an odd number.
  void reduce_fours(BandRows const& band) const noexcept {
    auto const* const above = reinterpret_cast<T const*>(band.rows[0]);
    auto const* const below = reinterpret_cast<T const*>(band.rows[1]);
    auto* const out = reinterpret_cast<T*>(band.out);
    auto const width = static_cast<std::uint32_t>(columns_.size());
    for (std::uint32_t i = 0; i < width; ++i) {
      out[i] = rms_of_whole_four<T>(above[2 * i], above[2 * i + 1], below[2 * i], below[2 * i + 1], i, width);
    }
  }

  std::vector<AxisWindow> columns_, rows_;
  bool columns_are_pairs_;
  std::optional<T> marker_;
  Avoided<T> avoided_{};
};

}  // namespace

std::unique_ptr<Method> make_rms(ReductionSpec const& spec) {
  if (is_complex(spec.dtype)) { return make_complex_average(spec, true); }
  return make_for_type(
      spec, []<class T>(std::type_identity<T>, ReductionSpec const& with) { return std::make_unique<Rms<T>>(with); });
}

}  // namespace terrazzo::tile
