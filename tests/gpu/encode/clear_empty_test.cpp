// SPDX-License-Identifier: Apache-2.0
#include "gpu/encode/cut.hpp"
#include "gpu/encode/cut_scene.hpp"

#include <gtest/gtest.h>

namespace terrazzo::gpu {
namespace {

using test::Bytes;
using test::DeviceCopy;
using test::DeviceScene;
using test::Layout;
using test::Scene;

class ClearEmptyOnDevice : public test::OnDevice {};

using Sizes = std::vector<std::uint64_t>;

// Different ones, and more than 32 bits of them.
Sizes sizes_of(Scene const& scene) {
  Sizes sizes(scene.tiles.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) { sizes[i] = (std::uint64_t{1} << 40) + i; }
  return sizes;
}

// `clear(batch, sizes, stream)` is the wrapper under test.
template <class Clear>
Sizes sizes_after(Scene const& scene, Clear const& clear) {
  DeviceScene const device(scene, test::no_output);
  DeviceCopy const sizes(sizes_of(scene));
  StreamHandle const stream = make_stream();
  clear(device.batch, sizes.get(), stream.get());
  check_cuda(cudaStreamSynchronize(stream.get()), "looking");
  return sizes.back();
}

Sizes after_tiles(Scene const& scene, CutFormat const& format) {
  return sizes_after(scene, [&](CutBatch const& batch, std::uint64_t* sizes, cudaStream_t stream) {
    clear_empty_tiles(batch, format, sizes, stream);
  });
}

// Every tile but one differs in one bit of one sample, somewhere.
TEST_F(ClearEmptyOnDevice, LeavesOutTilesThatAreEmptyBitForBit) {
  for (DType const dtype : test::kAllTypes) {
    for (Layout const layout : test::kAllLayouts) {
      for (bool const separate : {false, true}) {
        Scene scene({.dtype = dtype,
                     .width = 75,
                     .height = 50,
                     .bands = 3,
                     .separate = separate,
                     .layout = layout,
                     .offset_samples = 1});
        CutFormat const format = test::cut_format_of(scene);
        scene.for_each_sample([&](std::byte* at) { std::copy_n(format.empty, scene.bytes, at); });
        Sizes wanted = sizes_of(scene);
        std::mt19937 engine(3);
        for (std::size_t t = 0; t < scene.tiles.size(); ++t) {
          CutTile const& tile = scene.tiles[t];
          if (t % 4 == 1) {
            wanted[t] = 0;
            continue;
          }
          bool const corner = t % 4 == 2;
          std::byte* const at =
              scene.at(tile, corner ? format.samples - 1 : static_cast<std::uint32_t>(engine() % format.samples),
                       corner ? tile.real_rows - 1 : static_cast<std::uint32_t>(engine() % tile.real_rows),
                       corner ? tile.real_columns - 1 : static_cast<std::uint32_t>(engine() % tile.real_columns));
          at[engine() % scene.bytes] ^= std::byte{0x10};
        }
        ASSERT_EQ(after_tiles(scene, format), wanted) << scene.o;
      }
    }
  }
}

TEST_F(ClearEmptyOnDevice, TakesReplacedNanForEmpty) {
  for (DType const dtype : {DType::f16, DType::f32, DType::f64}) {
    Scene scene({.dtype = dtype, .width = 20, .height = 16});
    Bytes const nan = test::nan_of(dtype);
    scene.for_each_sample([&](std::byte* at) { std::ranges::copy(nan, at); });
    CutFormat format = test::cut_format_of(scene);
    EXPECT_EQ(after_tiles(scene, format), sizes_of(scene));
    format.replaces_nan = true;
    EXPECT_EQ(after_tiles(scene, format), Sizes(scene.tiles.size(), 0));
  }
}

TEST_F(ClearEmptyOnDevice, LeavesOutMasksWithoutAValidPixel) {
  for (std::uint32_t const stride : {1U, 3U}) {
    Scene scene({.width = 75, .height = 50, .mask = true, .mask_stride = stride});
    // What lies between the pixels does not count.
    std::ranges::fill(scene.mask_memory, std::byte{0xFF});
    Sizes wanted = sizes_of(scene);
    std::mt19937 engine(9);
    for (std::size_t t = 0; t < scene.tiles.size(); ++t) {
      CutTile const& tile = scene.tiles[t];
      for (std::uint32_t y = 0; y < tile.real_rows; ++y) {
        for (std::uint32_t x = 0; x < tile.real_columns; ++x) { scene.mask_at(tile, y, x) = std::byte{0}; }
      }
      if (t % 3 == 0) {
        wanted[t] = 0;
        continue;
      }
      bool const corner = t % 3 == 1;
      scene.mask_at(tile, corner ? tile.real_rows - 1 : static_cast<std::uint32_t>(engine() % tile.real_rows),
                    corner ? tile.real_columns - 1 : static_cast<std::uint32_t>(engine() % tile.real_columns)) =
          std::byte{1};
    }
    EXPECT_EQ(sizes_after(scene, clear_empty_masks), wanted) << scene.o;
  }
}

TEST_F(ClearEmptyOnDevice, LooksAtManyTilesAndLongRows) {
  for (DType const dtype : {DType::u8, DType::f64}) {
    Scene many({.dtype = dtype, .width = 70'000, .height = 2, .tile_width = 1, .tile_height = 2});
    CutFormat format = test::cut_format_of(many);
    std::ranges::fill(format.empty, std::byte{0});  // most files have no nodata
    many.for_each_sample([&](std::byte* at) { std::copy_n(format.empty, many.bytes, at); });
    *many.at(0, 1, 69'999) = std::byte{1};
    Sizes wanted(many.tiles.size(), 0);
    wanted.back() = sizes_of(many).back();
    EXPECT_EQ(after_tiles(many, format), wanted);
    Scene row({.dtype = dtype, .width = 70'001, .height = 3, .tile_width = 70'001, .tile_height = 3});
    row.for_each_sample([&](std::byte* at) { std::copy_n(format.empty, row.bytes, at); });
    EXPECT_EQ(after_tiles(row, format), Sizes{0});
    *row.at(0, 2, 70'000) = std::byte{1};
    EXPECT_EQ(after_tiles(row, format), sizes_of(row));
  }
}

TEST_F(ClearEmptyOnDevice, DoesNothingForNoTiles) {
  StreamHandle const stream = make_stream();
  EXPECT_NO_THROW(clear_empty_tiles({}, {}, nullptr, stream.get()));
  EXPECT_NO_THROW(clear_empty_masks({}, nullptr, stream.get()));
}

}  // namespace
}  // namespace terrazzo::gpu
