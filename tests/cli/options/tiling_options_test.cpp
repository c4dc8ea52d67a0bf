// SPDX-License-Identifier: Apache-2.0
#include "options/tiling_options.hpp"

#include "support/failure.hpp"

#include <gtest/gtest.h>

namespace terrazzo::cli {
namespace {

using terrazzo::testing::failure_of;
using terrazzo::testing::kind_of_failure;

TEST(TilingScheme, HasTheNamesOfGdalAndOgc) {
  for (char const* const name : {"GoogleMapsCompatible", "googlemapscompatible", "WebMercatorQuad", "web-mercator"}) {
    EXPECT_EQ(parse_tiling_scheme(name), TilingScheme::web_mercator);
  }
}

TEST(TilingScheme, OfAnotherNameIsRefusedWithTheToolForIt) {
  Error const error = failure_of([] { static_cast<void>(parse_tiling_scheme("InspireCRS84Quad")); });
  EXPECT_EQ(error.kind(), ErrorKind::usage);
  EXPECT_NE(error.message().find("gdalwarp"), std::string::npos);
}

TEST(WebTiles, TakeTileSizeAndResamplingFromTheOptionsForWriting) {
  TilingChoices const choices{.scheme = TilingScheme::web_mercator, .zoom_level = 7, .aligned_levels = 3};
  WebTileOptions const plain = web_tiles(choices, {});
  EXPECT_EQ(plain.zoom_level, 7u);
  EXPECT_EQ(plain.aligned_levels, 3u);
  EXPECT_EQ(plain.tile_size, 256u);
  EXPECT_EQ(plain.resampling, std::nullopt);
  WriteChoices write;
  write.tile_size = TileSize{512, 512};
  write.resampling = Resampling::average;
  EXPECT_EQ(web_tiles(choices, write).tile_size, 512u);
  EXPECT_EQ(web_tiles(choices, write).resampling, Resampling::average);
  write.tile_size = TileSize{512, 256};
  EXPECT_EQ(kind_of_failure([&] { static_cast<void>(web_tiles(choices, write)); }), ErrorKind::usage);
}

}  // namespace
}  // namespace terrazzo::cli
