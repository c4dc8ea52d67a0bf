// SPDX-License-Identifier: Apache-2.0
#include "read/public_call.hpp"

#include "terrazzo/device.hpp"

#include <gtest/gtest.h>

#include <string>

namespace terrazzo::reading {
namespace {

using tile::contiguous_view;

template <class View>
class EntryOf : public ::testing::Test {};
using Views = ::testing::Types<HostView, DeviceView>;
TYPED_TEST_SUITE(EntryOf, Views);

TYPED_TEST(EntryOf, ContiguousViewHasRowsOfOneBandAfterAnother) {
  int memory = 0;
  auto const view = contiguous_view<TypeParam>(&memory, DType::u16, 3, 5, 7);
  EXPECT_EQ(view.data, &memory);
  EXPECT_EQ(view.pixel_stride_bytes, 2);
  EXPECT_EQ(view.row_stride_bytes, 14);
  EXPECT_EQ(view.band_stride_bytes, 70);
}

TYPED_TEST(EntryOf, ContiguousViewOfManyBytesDoesNotWrap) {
  auto const view = contiguous_view<TypeParam>(nullptr, DType::f64, 1, 1u << 31, 1u << 20);
  EXPECT_EQ(view.band_stride_bytes, std::int64_t{1} << 54);
}

TYPED_TEST(EntryOf, DestinationOfAnotherShapeOrTypeIsRefused) {
  int memory = 0;
  ReadPlan::Impl plan;
  plan.bands = {1, 3};
  plan.out_height = 5;
  plan.out_width = 7;
  plan.dtype = DType::u16;
  auto const fits = contiguous_view<TypeParam>(&memory, DType::u16, 2, 5, 7);
  EXPECT_NO_THROW((void)checked_view(plan, fits));
  auto const refuses = [&](auto const& change) {
    TypeParam view = fits;
    change(view);
    try {
      (void)checked_view(plan, view);
    } catch (Error const& error) { return error.kind() == ErrorKind::usage; }
    return false;
  };
  EXPECT_TRUE(refuses([](auto& view) { view.data = nullptr; }));
  EXPECT_TRUE(refuses([](auto& view) { view.bands = 3; }));
  EXPECT_TRUE(refuses([](auto& view) { view.height = 4; }));
  EXPECT_TRUE(refuses([](auto& view) { view.width = 8; }));
  EXPECT_TRUE(refuses([](auto& view) { view.dtype = DType::i16; }));
}

TYPED_TEST(EntryOf, DestinationWithoutStridesIsPacked) {
  int memory = 0;
  ReadPlan::Impl plan;
  plan.bands = {1, 3};
  plan.out_height = 5;
  plan.out_width = 7;
  plan.dtype = DType::u16;
  EXPECT_EQ(checked_view(plan, TypeParam{&memory, DType::u16, 2, 5, 7}).band_stride_bytes, 70);
  EXPECT_THROW((void)checked_view(plan, TypeParam{&memory, DType::u16, 2, 5, 7, 0, 14, 2}), Error);
}

TEST(Entry, DestinationSaysTheTypeUnlessTheRequestDoes) {
  EXPECT_EQ(with_dtype({}, DType::f32).dtype, DType::f32);
  ReadRequest request;
  request.dtype = DType::u8;
  EXPECT_EQ(with_dtype(request, DType::f32).dtype, DType::u8);
}

}  // namespace
}  // namespace terrazzo::reading
