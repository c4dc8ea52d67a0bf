// SPDX-License-Identifier: Apache-2.0
#include "read/device/profile.hpp"

#include "read/device/device_fixture.hpp"
#include "read/images.hpp"
#include "terrazzo/profile.hpp"

#include <gtest/gtest.h>

namespace terrazzo::reading {
namespace {

using DeviceProfileOnDevice = test::OnDevice;

// 4 x 4 tiles.
testing::TiffBuilder tiles(ImageSpec spec) {
  spec.width = spec.height = 64;
  spec.tile_width = spec.tile_height = 16;
  return image<std::uint8_t>(spec);
}

TEST_F(DeviceProfileOnDevice, CountsTilesBytesAndTimesOfEveryStage) {
  Opened const opened(tiles({.compression = kPackBits}));
  StageTimes const times = profile_device_read(*opened);
  EXPECT_EQ(times.device_tiles, 16u);
  EXPECT_EQ(times.host_tiles, 0u);
  EXPECT_EQ(times.fetched_bytes, 16u * (256 + 2)) << "two runs of 128 bytes a tile, a byte each before them";
  EXPECT_EQ(times.decoded_bytes, 16u * 256);
  EXPECT_EQ(times.batches, 1u) << "nothing overlaps: the largest batch is the best one";
  for (double const seconds : {times.fetch_s, times.upload_s, times.decode_s, times.place_s}) { EXPECT_GT(seconds, 0); }
}

TEST_F(DeviceProfileOnDevice, ATileThatTheDeviceCannotDecodeIsTheHosts) {
  Opened const opened(tiles({.compression = kPackBits, .edit = [](std::uint64_t block, std::vector<std::byte>& bytes) {
                               if (block == 5) { bytes.resize(bytes.size() / 2); }
                             }}));
  StageTimes const times = profile_device_read(*opened, {.bad_tile = BadTile::fill});
  EXPECT_EQ(times.device_tiles, 16u);
  EXPECT_EQ(times.host_tiles, 1u);
}

TEST_F(DeviceProfileOnDevice, AnImageWithoutTilesTakesNoBatch) {
  Opened const opened(tiles({.edit = [](std::uint64_t, std::vector<std::byte>& bytes) { bytes.clear(); }}));
  StageTimes const times = profile_device_read(*opened);
  EXPECT_EQ(times.batches, 0u);
  EXPECT_EQ(times.fetched_bytes, 0u);
  EXPECT_EQ(times.fetch_s + times.decode_s + times.place_s, 0);
}

}  // namespace
}  // namespace terrazzo::reading
