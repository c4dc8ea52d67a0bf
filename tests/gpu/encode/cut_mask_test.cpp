// SPDX-License-Identifier: Apache-2.0
#include "gpu/encode/cut.hpp"
#include "gpu/encode/cut_scene.hpp"

#include <gtest/gtest.h>

namespace terrazzo::gpu {
namespace {

using test::Bytes;
using test::DeviceCopy;
using test::DeviceScene;
using test::Scene;
using test::SceneOptions;

class CutMasksOnDevice : public test::OnDevice {};

std::uint64_t mask_bytes(CutTile const& tile) { return (std::uint64_t{tile.width} + 7) / 8 * tile.height; }

Bytes expected_mask(Scene& scene, CutTile const& tile) {
  Bytes bits(mask_bytes(tile));
  for (std::uint32_t y = 0; y < tile.real_rows; ++y) {
    for (std::uint32_t x = 0; x < tile.real_columns; ++x) {
      if (scene.mask_at(tile, y, x) == std::byte{0}) { continue; }
      bits[std::size_t{y} * ((tile.width + 7) / 8) + x / 8] |= std::byte{0x80} >> (x % 8);
    }
  }
  return bits;
}

void expect_same_as_host(SceneOptions options) {
  options.mask = true;
  Scene scene(options);
  DeviceScene const device(scene, mask_bytes);
  StreamHandle const stream = make_stream();
  cut_masks(device.batch, stream.get());
  check_cuda(cudaStreamSynchronize(stream.get()), "cutting");
  std::vector<Bytes> const found = device.outputs();
  for (std::size_t t = 0; t < scene.tiles.size(); ++t) {
    ASSERT_TRUE(found[t] == expected_mask(scene, scene.tiles[t])) << scene.o << ", tile " << t;
  }
}

TEST_F(CutMasksOnDevice, PackEightPixelsAByteWithTheFirstInTheHighestBit) {
  for (std::uint32_t const stride : {1U, 3U}) {
    for (std::uint32_t const width : {64U, 77U, 80U}) {
      expect_same_as_host({.width = width, .height = 37, .tile_width = 32, .first_row = 5, .mask_stride = stride});
      expect_same_as_host(
          {.width = width, .height = 37, .tile_width = width, .tile_height = 8, .strips = true, .mask_stride = stride});
    }
    for (std::uint32_t const width : {1U, 7U, 8U, 9U, 40'003U}) {
      expect_same_as_host({.width = width, .height = 3, .tile_width = width, .tile_height = 2, .mask_stride = stride});
    }
    expect_same_as_host({.width = 70'000, .height = 1, .tile_width = 1, .tile_height = 1, .mask_stride = stride});
  }
}

TEST_F(CutMasksOnDevice, ReadUpsideDownAndMirroredMasks) {
  Scene scene({.width = 45, .height = 20, .mask = true});
  Scene turned = scene;
  std::ranges::reverse(turned.mask_memory);
  DeviceScene device(scene, mask_bytes);
  // The same pixels, the other way round.
  DeviceCopy const memory(turned.mask_memory);
  ConstDeviceRows rows;
  rows.mask = scene.mask;
  rows.mask.data = memory.get() + turned.mask_memory.size() - 1;
  rows.mask.row_stride_bytes = -scene.mask.row_stride_bytes;
  rows.mask.pixel_stride_bytes = -scene.mask.pixel_stride_bytes;
  DeviceCopy const device_rows(std::vector<ConstDeviceRows>{ConstDeviceRows{}, rows});
  device.batch.rows = device_rows.get();
  StreamHandle const stream = make_stream();
  cut_masks(device.batch, stream.get());
  check_cuda(cudaStreamSynchronize(stream.get()), "cutting");
  std::vector<Bytes> const found = device.outputs();
  for (std::size_t t = 0; t < scene.tiles.size(); ++t) {
    EXPECT_TRUE(found[t] == expected_mask(scene, scene.tiles[t])) << "tile " << t;
  }
}

TEST_F(CutMasksOnDevice, DoNothingForNoTiles) {
  StreamHandle const stream = make_stream();
  EXPECT_NO_THROW(cut_masks({}, stream.get()));
}

}  // namespace
}  // namespace terrazzo::gpu
