// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/coordinates.hpp"

#include "geo/crs/proj_library.hpp"
#include "support/failure.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <thread>
#include <vector>

namespace terrazzo {
namespace {

using testing::failure_of;
using testing::kind_of_failure;

class OtherCrs : public ::testing::Test {
 protected:
  void SetUp() override {
    if (geo::proj_api() == nullptr) { GTEST_SKIP() << "PROJ is not installed"; }
    if (!geo::ProjSession().has_database()) { GTEST_SKIP() << "PROJ has no database"; }
    info_.source = "utm.tif";
    info_.width = info_.height = 100;
    info_.georeference.transform = {500'000, 10, 0, 5'000'000, 0, -10};
    info_.georeference.crs = Crs{.kind = Crs::Kind::projected, .epsg = 32633};
  }
  Info info_;
};

TEST_F(OtherCrs, ABoxOfTheSameCrsIsUnchanged) {
  BoundingBox const box = bounds(info_);
  EXPECT_EQ(bbox_in(info_, box, "EPSG:32633"), box);
}

TEST_F(OtherCrs, ABoxOfLongitudesReachesTheRaster) {
  BoundingBox const lon_lat = bbox_to(info_, bounds(info_), "OGC:CRS84");
  EXPECT_NEAR(lon_lat.xmin, 15, 1e-6);
  EXPECT_NEAR(lon_lat.ymax, 45.15, 0.01);
  BoundingBox const back = bbox_in(info_, lon_lat, "EPSG:4326");
  EXPECT_TRUE(contains(expanded(back, 1e-3), bounds(info_)));
  EXPECT_TRUE(contains(expanded(bounds(info_), 20), back));
}

TEST_F(OtherCrs, PointsGoBothWays) {
  std::vector<Point> const points = {{500'000, 5'000'000}, {500'500, 4'999'500}};
  auto const lon_lat = points_to(info_, points, "EPSG:4326");
  EXPECT_NEAR(lon_lat[0].x, 15, 1e-9);
  auto const back = points_in(info_, lon_lat, "EPSG:4326");
  for (std::size_t i = 0; i < points.size(); ++i) {
    EXPECT_NEAR(back[i].x, points[i].x, 1e-6);
    EXPECT_NEAR(back[i].y, points[i].y, 1e-6);
  }
}

TEST_F(OtherCrs, RastersOfOtherCrssDoNotShareATransform) {
  Info north = info_, south = info_;
  south.georeference.crs->epsg = 32733;
  std::vector<Point> const points = {{15, 1}};
  for (int i = 0; i < 2; ++i) {
    EXPECT_NEAR(points_in(north, points, "EPSG:4326")[0].y, 110'540, 100);
    EXPECT_NEAR(points_in(south, points, "EPSG:4326")[0].y, 10'110'540, 100);
    EXPECT_NEAR(points_in(south, points, "EPSG:4258")[0].y, 10'110'540, 100);
    EXPECT_LT(points_to(south, points, "EPSG:4326")[0].y, -80);
  }
  EXPECT_EQ(kind_of_failure([&] { return points_in(north, points, "EPSG:0"); }), ErrorKind::usage);
  EXPECT_NEAR(points_in(north, points, "EPSG:4326")[0].y, 110'540, 100);
}

TEST_F(OtherCrs, ManyThreadsMayTransform) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this, i, &wrong] {
      Info info = info_;
      info.georeference.crs->epsg = 32633 + i % 2;
      for (int turn = 0; turn < 5; ++turn) {
        std::vector<Point> const points(10, Point{15.0 + 6 * (i % 2), 1});
        for (Point const& point : points_in(info, points, "EPSG:4326")) {
          wrong += std::abs(point.x - 500'000) < 1e-3 ? 0 : 1;
        }
      }
    });
  }
  for (std::thread& thread : threads) { thread.join(); }
  EXPECT_EQ(wrong, 0);
}

TEST_F(OtherCrs, BoxesThatAreEmptyOrNotFiniteAreUsageErrors) {
  double const inf = std::numeric_limits<double>::infinity();
  for (BoundingBox const& box :
       {BoundingBox{15, 45, 15, 46}, BoundingBox{15, 46, 16, 45}, BoundingBox{std::nan(""), 45, 16, 46},
        BoundingBox{-inf, 45, 16, inf}, BoundingBox{}}) {
    EXPECT_EQ(kind_of_failure([&] { return bbox_in(info_, box, "EPSG:4326"); }), ErrorKind::usage);
  }
}

TEST_F(OtherCrs, ARasterWithoutCrsIsAUsageErrorWithItsName) {
  info_.georeference.crs.reset();
  Error const error = failure_of([&] { return bbox_in(info_, {15, 45, 16, 46}, "EPSG:4326"); });
  EXPECT_EQ(error.kind(), ErrorKind::usage);
  EXPECT_EQ(error.where().source, "utm.tif");
}

TEST_F(OtherCrs, ACrsThatProjDoesNotKnowIsAUsageError) {
  EXPECT_EQ(kind_of_failure([&] { return bbox_in(info_, {15, 45, 16, 46}, "EPSG:999999"); }), ErrorKind::usage);
}

TEST_F(OtherCrs, AResultAcrossTheAntimeridianHasItsWestInTheEast) {
  info_.georeference.crs = Crs{.kind = Crs::Kind::geographic, .epsg = 4326};
  info_.georeference.transform = {-180, 1, 0, 90, 0, -1};
  BoundingBox const box = bbox_in(info_, {300'000, 8'000'000, 900'000, 8'200'000}, "EPSG:32760");
  EXPECT_GT(box.xmin, box.xmax);
  EXPECT_EQ(kind_of_failure([&] { return window_of(info_, box); }), ErrorKind::usage);
}

}  // namespace
}  // namespace terrazzo
