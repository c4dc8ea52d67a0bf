// SPDX-License-Identifier: Apache-2.0
#include "ops/mosaic/compose.hpp"

#include "tile/convert_sample.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

namespace terrazzo::ops {
namespace {

constexpr DType kRealTypes[] = {DType::u8,  DType::i8,  DType::u16, DType::i16, DType::u32, DType::i32,
                                DType::u64, DType::i64, DType::f16, DType::f32, DType::f64};
using Valid = std::vector<std::uint8_t>;

// Samples of any type, in memory with `gap` samples between neighbours.
class Row {
 public:
  Row(DType dtype, std::vector<double> const& values, std::size_t gap = 0)
      : dtype_(dtype), step_((1 + gap) * size_bytes(dtype)), bytes_(values.size() * step_), count_(values.size()) {
    for (std::size_t i = 0; i < count_; ++i) { tile::fill_row(dtype, bytes_.data() + i * step_, 0, 1, values[i]); }
  }
  [[nodiscard]] SampleRow row() { return {bytes_.data(), static_cast<std::ptrdiff_t>(step_)}; }
  [[nodiscard]] std::vector<double> values() const {
    std::vector<double> all(count_);
    tile::convert_row(dtype_, bytes_.data(), static_cast<std::ptrdiff_t>(step_), DType::f64,
                      reinterpret_cast<std::byte*>(all.data()), sizeof(double), count_, {});
    return all;
  }

 private:
  DType dtype_;
  std::size_t step_;
  std::vector<std::byte> bytes_;
  std::size_t count_;
};

class ComposeRow : public ::testing::TestWithParam<DType> {};

TEST_P(ComposeRow, FirstSetsOnlySamplesThatAreNotValidYet) {
  Row from(GetParam(), {10, 20, 30, 40}, 2), to(GetParam(), {1, 2, 3, 4});
  compose_row(MosaicRule::first, GetParam(), from.row(), Valid{255, 0, 255, 0}, to.row(), Valid{255, 255, 0, 0});
  EXPECT_EQ(to.values(), (std::vector<double>{1, 2, 30, 4}));
}

TEST_P(ComposeRow, MinimumAndMaximumCompareWithValidSamples) {
  Row from(GetParam(), {10, 2, 30, 4, 5}), least(GetParam(), {5, 5, 5, 5, 5}), most(GetParam(), {5, 5, 5, 5, 5}, 1);
  Valid const from_valid{255, 255, 255, 255, 0}, to_valid{255, 255, 0, 0, 255};
  compose_row(MosaicRule::minimum, GetParam(), from.row(), from_valid, least.row(), to_valid);
  EXPECT_EQ(least.values(), (std::vector<double>{5, 2, 30, 4, 5}));
  compose_row(MosaicRule::maximum, GetParam(), from.row(), from_valid, most.row(), to_valid);
  EXPECT_EQ(most.values(), (std::vector<double>{10, 5, 30, 4, 5}));
}

TEST_P(ComposeRow, MeansAreRoundedHalfAwayFromZeroInIntegers) {
  Row a(GetParam(), {1, 2, 4}), b(GetParam(), {2, 9, 8}), to(GetParam(), {7, 7, 7});
  std::vector<double> sums(3);
  add_row(GetParam(), a.row(), Valid{255, 255, 0}, sums);
  add_row(GetParam(), b.row(), Valid{255, 0, 0}, sums);
  store_means(GetParam(), sums, std::vector<std::uint32_t>{2, 1, 0}, to.row());
  EXPECT_EQ(to.values(), (std::vector<double>{is_integer(GetParam()) ? 2 : 1.5, 2, 7}));
}

TEST_P(ComposeRow, FindsTheMarkerAndNan) {
  bool const has_nan = is_floating(GetParam());
  Row row(GetParam(), {3, 9, has_nan ? std::numeric_limits<double>::quiet_NaN() : 9, 0}, 1);
  tile::ValueTransform marker;
  marker.mask_nodata = true;
  marker.nodata = 9;
  Valid valid(4, 1);
  find_valid(GetParam(), row.row(), marker, valid);
  EXPECT_EQ(valid, (Valid{255, 0, 0, 255}));
}

INSTANTIATE_TEST_SUITE_P(RealTypes, ComposeRow, ::testing::ValuesIn(kRealTypes),
                         [](auto const& test) { return std::string(to_string(test.param)); });

TEST(ComposeComplex, FirstCopiesBothParts) {
  std::vector<double> from{1, 2, 3, 4}, to{9, 9, 9, 9};
  auto const row = [](std::vector<double>& samples) {
    return SampleRow{reinterpret_cast<std::byte*>(samples.data()), 2 * sizeof(double)};
  };
  compose_row(MosaicRule::first, DType::cf64, row(from), Valid{0, 255}, row(to), Valid{0, 0});
  EXPECT_EQ(to, (std::vector<double>{9, 9, 3, 4}));
}

TEST(ComposeInt64, KeepsNumbersThatADoubleCannotHold) {
  std::int64_t const large = (std::int64_t{1} << 53) + 1;
  std::vector<std::int64_t> from{large}, to{large - 1};
  auto const row = [](std::vector<std::int64_t>& samples) {
    return SampleRow{reinterpret_cast<std::byte*>(samples.data()), sizeof(std::int64_t)};
  };
  compose_row(MosaicRule::maximum, DType::i64, row(from), Valid{255}, row(to), Valid{255});
  EXPECT_EQ(to.front(), large);
}

}  // namespace
}  // namespace terrazzo::ops
