// SPDX-License-Identifier: Apache-2.0
//
// Strides of the caller's memory are tested in read_test.cpp; here, which way a row takes and what it may touch.
#include "read/host/placer.hpp"

#include "read/images.hpp"

#include <gtest/gtest.h>

namespace terrazzo::reading {
namespace {

struct Placed {
  Placed(ImageSpec const& spec, ReadRequest const& request, std::int64_t band, std::int64_t row, std::int64_t pixel)
      : opened(image<std::uint8_t>(spec)),
        plan(make_plan(opened->shared_impl(), request)),
        memory(500, 0xCD),
        view{memory.data(),
             plan->dtype,
             static_cast<std::uint32_t>(plan->bands.size()),
             plan->out_height,
             plan->out_width,
             band,
             row,
             pixel},
        placer(*plan, view, spec.separate ? 1 : spec.bands, spec.separate ? 1 : spec.bands) {}
  Opened opened;
  std::shared_ptr<ReadPlan::Impl const> plan;
  std::vector<std::uint8_t> memory;
  HostView view;
  Placer placer;
};

ImageSpec const kOne{.width = 10, .height = 4}, kThree{.width = 10, .height = 4, .bands = 3},
    kSeparate{.width = 10, .height = 4, .bands = 3, .separate = true};

TEST(Placer, IsDirectWhereTheBytesAreTheSame) {
  EXPECT_TRUE(Placed(kOne, {}, 40, 10, 1).placer.is_direct());
  EXPECT_TRUE(Placed(kOne, {}, 40, -99, 1).placer.is_direct()) << "rows may lie anywhere";
  EXPECT_TRUE(Placed(kThree, {}, 1, 30, 3).placer.is_direct()) << "band last";
  EXPECT_TRUE(Placed(kSeparate, {.bands = {3, 1}}, 40, 10, 1).placer.is_direct());
}

TEST(Placer, IsNotDirectWhereTheyDiffer) {
  EXPECT_FALSE(Placed(kOne, {}, 40, 20, 2).placer.is_direct()) << "spread pixels";
  EXPECT_FALSE(Placed(kOne, {.dtype = DType::u16}, 80, 20, 2).placer.is_direct()) << "another type";
  EXPECT_FALSE(Placed(kOne, {.bands = {1, 1}}, 40, 10, 1).placer.is_direct()) << "two places for one band";
  EXPECT_FALSE(Placed(kOne, {.target_size = TargetSize{5, 2}}, 10, 5, 1).placer.is_direct()) << "another size";
  EXPECT_FALSE(Placed(kThree, {}, 40, 10, 1).placer.is_direct()) << "band first";
  EXPECT_FALSE(Placed(kThree, {.bands = {3, 2, 1}}, 1, 30, 3).placer.is_direct()) << "another order";
  EXPECT_FALSE(Placed(kThree, {.bands = {1, 2}}, 1, 20, 2).placer.is_direct());
  EXPECT_FALSE(Placed(kSeparate, {.bands = {3, 3}}, 40, 10, 1).placer.is_direct());
}

TEST(Placer, FindsThePlaceOfAPlane) {
  Placed const placed(kSeparate, {.bands = {3, 1}}, 40, 10, 1);
  auto* const start = reinterpret_cast<std::byte*>(const_cast<std::uint8_t*>(placed.memory.data()));
  EXPECT_EQ(placed.placer.direct_row(2, 1, 4), start + 14);
  EXPECT_EQ(placed.placer.direct_row(0, 3, 0), start + 40 + 30);
}

TEST(Placer, PlacesPixelsInEveryBandThatWantsThem) {
  Placed placed(kThree, {.bands = {3, 1, 3}}, 40, 10, 1);
  std::uint8_t const pixels[] = {1, 2, 3, 11, 12, 13};
  placed.placer.place(0, 2, 5, reinterpret_cast<std::byte const*>(pixels), 2);
  for (std::size_t const band : {0u, 2u}) {
    EXPECT_EQ(placed.memory[band * 40 + 25], 3);
    EXPECT_EQ(placed.memory[band * 40 + 26], 13);
  }
  EXPECT_EQ(placed.memory[40 + 25], 1);
  EXPECT_EQ(std::ranges::count(placed.memory, 0xCD), 500 - 6) << "nothing else is touched";
}

TEST(Placer, SplitsWholePixelsIntoPlanes) {
  Placed placed(kThree, {}, 40, 10, 1);
  std::uint8_t const pixels[] = {1, 2, 3, 11, 12, 13};
  placed.placer.place(0, 0, 8, reinterpret_cast<std::byte const*>(pixels), 2);
  EXPECT_EQ(placed.memory[8], 1);
  EXPECT_EQ(placed.memory[9], 11);
  EXPECT_EQ(placed.memory[48], 2);
  EXPECT_EQ(placed.memory[89], 13);
  EXPECT_EQ(std::ranges::count(placed.memory, 0xCD), 500 - 6);
}

TEST(Placer, TakesPlanesWhereItWouldSplitPixels) {
  Placed placed(kThree, {}, 40, 10, 1);
  ASSERT_TRUE(placed.placer.takes_planes());
  auto const rows = placed.placer.plane_rows(0, 8, 2);
  ASSERT_EQ(rows.size(), 3u);
  for (std::size_t band = 0; band < 3; ++band) {
    for (std::size_t x = 0; x < 2; ++x) { rows[band][x] = static_cast<std::byte>(10 * band + x); }
  }
  placed.placer.flush_plane_rows(0, 8, 2);
  EXPECT_EQ(placed.memory[8], 0);
  EXPECT_EQ(placed.memory[9], 1);
  EXPECT_EQ(placed.memory[48], 10);
  EXPECT_EQ(placed.memory[89], 21);
  EXPECT_EQ(std::ranges::count(placed.memory, 0xCD), 500 - 6);
  EXPECT_FALSE(Placed(kThree, {}, 1, 30, 3).placer.takes_planes()) << "band last";
  EXPECT_FALSE(Placed(kThree, {.bands = {3, 2, 1}}, 40, 10, 1).placer.takes_planes()) << "another order";
  EXPECT_FALSE(Placed(kThree, {.dtype = DType::u16}, 80, 20, 2).placer.takes_planes()) << "another type";
  EXPECT_FALSE(Placed(kSeparate, {}, 40, 10, 1).placer.takes_planes()) << "bands come one by one";
}

TEST(Placer, FillsTheBandsOfThePlaneOnly) {
  Placed placed(kSeparate, {.bands = {2, 3, 2}}, 40, 10, 1);
  placed.placer.fill(1, 1, 2, 3);
  for (std::size_t const band : {0u, 2u}) {
    for (std::size_t c = 2; c < 5; ++c) { EXPECT_EQ(placed.memory[band * 40 + 10 + c], 0); }
  }
  EXPECT_EQ(std::ranges::count(placed.memory, 0xCD), 500 - 6);
}

}  // namespace
}  // namespace terrazzo::reading
