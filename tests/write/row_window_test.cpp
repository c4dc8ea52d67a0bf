// SPDX-License-Identifier: Apache-2.0
#include "write/row_window.hpp"

#include "test_image.hpp"

#include "write/host/engine.hpp"
#include "write/overviews/cascade.hpp"
#include "write/plan/file_plan.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace terrazzo::writing {
namespace {

FilePlan plan_of(Image const& image, PlanarLayout planar) {
  WriteOptions options;
  options.dtype = image.dtype;
  options.bands = image.bands;
  options.planar = planar;
  options.mask = !image.mask.empty();
  return plan_file(image.width, image.height, options);
}

// True when the rows hold rows of the image, from rows.first on.
bool holds(ConstHostRows const& rows, Image const& image) {
  std::size_t const sample = image.sample_bytes();
  for (std::uint32_t y = 0; y < rows.pixels.height; ++y) {
    for (std::uint32_t x = 0; x < image.width; ++x) {
      for (std::uint32_t b = 0; b < image.bands; ++b) {
        auto const* const at = static_cast<std::byte const*>(rows.pixels.data) + y * rows.pixels.row_stride_bytes +
                               x * rows.pixels.pixel_stride_bytes + b * rows.pixels.band_stride_bytes;
        std::size_t const index = (std::size_t{b} * image.height + rows.first + y) * image.width + x;
        if (std::memcmp(at, image.bytes.data() + index * sample, sample) != 0) { return false; }
      }
      if (!image.mask.empty()) {
        auto const* const at = static_cast<std::byte const*>(rows.mask.data) + y * rows.mask.row_stride_bytes +
                               x * rows.mask.pixel_stride_bytes;
        if (*at != image.mask[std::size_t{rows.first + y} * image.width + x]) { return false; }
      }
    }
  }
  return true;
}

TEST(RowWindow, KeepsRowsFromAnyOrderOfMemoryWhileItMovesOn) {
  for (PlanarLayout const planar : {PlanarLayout::contiguous, PlanarLayout::separate}) {
    for (bool const masked : {false, true}) {
      for (Order const order : kOrders) {
        Image image = make_image(DType::u16, 3, 60, 17);
        if (masked) { add_mask(image); }
        FilePlan const plan = plan_of(image, planar);
        Arranged const source = arrange(image, order);
        ConstHostRows const all{0, source.view, masked ? image.mask_view() : HostView{}};
        HostRowMemory memory(2);
        RowWindow window(plan, memory, image.width, 8);
        EXPECT_EQ(window.first(), 0U);
        EXPECT_EQ(window.end(), 0U);
        std::uint32_t at = 0, first = 0;
        for (std::uint32_t const step : {5U, 1U, 9U, 0U, 20U, 3U, 22U}) {
          window.append(all, at, at + step);
          at += step;
          EXPECT_EQ(window.first(), first);
          EXPECT_EQ(window.end(), at);
          EXPECT_TRUE(holds(window.rows(), image));
          first = at - step / 2;
          window.drop_before(first);
          EXPECT_EQ(window.first(), first);
          EXPECT_EQ(window.end(), at);
          EXPECT_TRUE(holds(window.rows(), image));
        }
        EXPECT_EQ(at, image.height);
      }
    }
  }
}

TEST(RowWindow, GivesRoomToBeFilled) {
  Image image = make_image(DType::f32, 1, 10, 4);
  FilePlan const plan = plan_of(image, PlanarLayout::contiguous);
  HostRowMemory memory(1);
  RowWindow window(plan, memory, 4, 2);
  for (std::uint32_t row = 0; row < 10; ++row) {
    HostRows const room = window.append(1);
    EXPECT_EQ(room.first, row);
    EXPECT_EQ(room.pixels.height, 1U);
    EXPECT_EQ(room.mask.data, nullptr);
    std::memcpy(room.pixels.data, image.bytes.data() + row * 16, 16);
  }
  EXPECT_TRUE(holds(window.rows(), image));
  EXPECT_TRUE(holds(rows_between(window.rows(), 3, 7), image));
}

TEST(RowWindow, DropsAtMostWhatItHas) {
  Image image = make_image(DType::u8, 1, 10, 4);
  FilePlan const plan = plan_of(image, PlanarLayout::contiguous);
  HostRowMemory memory(1);
  RowWindow window(plan, memory, 4, 2);
  window.append(ConstHostRows{0, image.view(), {}}, 0, 5);
  window.drop_before(3);
  window.drop_before(2);  // long gone
  EXPECT_EQ(window.first(), 3U);
  EXPECT_TRUE(holds(window.rows(), image));
  window.restart(7);
  EXPECT_EQ(window.first(), 7U);
  EXPECT_EQ(window.end(), 7U);
  window.append(ConstHostRows{0, image.view(), {}}, 7, 10);
  EXPECT_TRUE(holds(window.rows(), image));
}

}  // namespace
}  // namespace terrazzo::writing
