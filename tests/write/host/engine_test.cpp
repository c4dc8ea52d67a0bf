// SPDX-License-Identifier: Apache-2.0
#include "write/host/engine.hpp"

#include "write/test_image.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace terrazzo::writing {
namespace {

TEST(HostRowMemory, CopiesRowsOfAnyOrderToAnyOther) {
  for (DType const dtype : {DType::u8, DType::u16, DType::f32, DType::f64, DType::cf64}) {
    for (Order const from : kOrders) {
      for (Order const to : kOrders) {
        Image const image = make_image(dtype, 3, 9, 11);
        Arranged const source = arrange(image, from);
        Image const nothing{dtype, 3, 9, 11, std::vector<std::byte>(image.bytes.size()), {}};
        Arranged const target = arrange(nothing, to);
        HostRowMemory(2).copy({0, source.view, {}}, {0, target.view, {}});
        EXPECT_TRUE(target.memory == arrange(image, to).memory) << to_string(dtype);
      }
    }
  }
}

TEST(HostRowMemory, MovesRowsOverThemselves) {
  HostRowMemory memory(1);
  std::shared_ptr<std::byte> const bytes = memory.allocate(100);
  for (int i = 0; i < 100; ++i) { bytes.get()[i] = static_cast<std::byte>(i); }
  memory.move(bytes.get(), bytes.get() + 3, 97);
  for (int i = 0; i < 97; ++i) { EXPECT_EQ(bytes.get()[i], static_cast<std::byte>(i + 3)); }
}

TEST(HostEngine, WantsWholeBlockRowsAndNoMoreThanItsBuffer) {
  WriteOptions options;
  options.dtype = DType::f32;
  options.tile_size = {256, 128};
  options.streaming_buffer_bytes = std::uint64_t{64} << 20;
  FilePlan const plan = plan_file(5000, 9000, options);
  RowShare const share = make_host_engine(plan, 8, {})->row_share();
  EXPECT_EQ(share.gathered % 128, 0U);
  EXPECT_GE(share.gathered * 20U / 128U, 64U) << "eight blocks a thread";
  EXPECT_LE(share.gathered * std::uint64_t{5000} * 4, options.streaming_buffer_bytes);
  EXPECT_EQ(share.at_once, 9000U) << "without overviews nothing is kept";
  options.streaming_buffer_bytes = 1;
  FilePlan const tight = plan_file(5000, 9000, options);
  EXPECT_EQ(make_host_engine(tight, 8, {})->row_share().gathered, 128U) << "the floor is one block row";
}

}  // namespace
}  // namespace terrazzo::writing
