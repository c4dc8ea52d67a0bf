// SPDX-License-Identifier: Apache-2.0
#include "commands/raster_place.hpp"

#include "support/data_folder.hpp"

#include "terrazzo/read.hpp"

#include <gtest/gtest.h>

namespace terrazzo::cli {
namespace {

TEST(PlaceOf, HasLongitudesOfAKnownCrs) {
  Info const info = open(testing::data_folder() / "dem_deflate_p3.tif").detailed_info();
  auto const place = place_of(info);
  ASSERT_TRUE(place);
  EXPECT_EQ(place->bounds, bounds(info));
  if (info.georeference.crs->wkt.empty()) { GTEST_SKIP() << "PROJ is not installed"; }
  ASSERT_TRUE(place->lon_lat);
  EXPECT_NEAR(place->lon_lat->center.x, 13.7344639, 1e-6);
  EXPECT_NEAR(place->lon_lat->corners.upper_left.y, 45.1463929, 1e-6);
  ASSERT_TRUE(place->lon_lat->bounds);
  EXPECT_NEAR(place->lon_lat->bounds->xmin, 13.727967, 1e-6);
}

TEST(PlaceOf, IsAbsentWithoutATransform) {
  EXPECT_FALSE(place_of(open(testing::data_folder() / "gcps.tif").detailed_info()));
  Info info;
  info.width = info.height = 10;
  info.georeference.transform = {0, 1, 2, 0, 2, 4};
  EXPECT_FALSE(place_of(info));
}

TEST(PlaceOf, HasNoLongitudesOfACrsThatProjCannotTransform) {
  Info info;
  info.width = info.height = 10;
  info.georeference.transform = {0, 1, 0, 0, 0, -1};
  EXPECT_FALSE(place_of(info)->lon_lat);
  info.georeference.crs = Crs{.kind = Crs::Kind::local, .name = "a plan of the house"};
  EXPECT_FALSE(place_of(info)->lon_lat);
}

}  // namespace
}  // namespace terrazzo::cli
