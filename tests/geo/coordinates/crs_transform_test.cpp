// SPDX-License-Identifier: Apache-2.0
#include "geo/coordinates/crs_transform.hpp"

#include "support/failure.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <vector>

namespace terrazzo::geo {
namespace {

using testing::failure_of;
using testing::kind_of_failure;

class CrsTransforms : public ::testing::Test {
 protected:
  void SetUp() override {
    if (proj_api() == nullptr) { GTEST_SKIP() << "PROJ is not installed"; }
    proj_.emplace();
    if (!proj_->has_database()) { GTEST_SKIP() << "PROJ has no database"; }
  }
  [[nodiscard]] CrsTransform between(std::string const& from, std::string const& to) const {
    return {user_crs(from, *proj_), user_crs(to, *proj_), *proj_};
  }
  std::optional<ProjSession> proj_;
};

TEST_F(CrsTransforms, AxesAreEastAndNorthInEveryCrs) {
  std::vector<Point> points = {{15, 0}, {15, 45}};
  between("EPSG:4326", "EPSG:32633").transform(points, *proj_);  // the code's own order is latitude, longitude
  EXPECT_NEAR(points[0].x, 500'000, 1e-6);
  EXPECT_NEAR(points[0].y, 0, 1e-6);
  EXPECT_NEAR(points[1].y, 4'982'950.4, 0.1);
}

TEST_F(CrsTransforms, PointsThatFailBecomeInfinite) {
  std::vector<Point> points = {{15, 45}, {15, 1e9}, {15, 46}};
  between("EPSG:4326", "EPSG:32633").transform(points, *proj_);
  EXPECT_TRUE(std::isfinite(points[0].x));
  EXPECT_TRUE(std::isinf(points[1].x));
  EXPECT_TRUE(std::isinf(points[1].y));
  EXPECT_TRUE(std::isfinite(points[2].x));
  std::vector<Point> none;
  between("EPSG:4326", "EPSG:32633").transform(none, *proj_);
}

TEST_F(CrsTransforms, BoxesFollowCurvedEdges) {
  BoundingBox const box = between("EPSG:4326", "EPSG:3035").transform(BoundingBox{5, 40, 15, 50}, *proj_);
  std::vector<Point> middle = {{10, 40}};
  between("EPSG:4326", "EPSG:3035").transform(middle, *proj_);
  EXPECT_NEAR(box.ymin, middle[0].y, 1);  // the southern edge is lowest in its middle, not at a corner
}

TEST_F(CrsTransforms, PointsOfEdgesThatFailAreLeftOut) {
  // Half of the box is behind the horizon.
  BoundingBox const box =
      between("EPSG:4326", "+proj=ortho +lat_0=0 +lon_0=0").transform(BoundingBox{0, -60, 170, 60}, *proj_);
  EXPECT_NEAR(box.xmin, 0, 1);
  EXPECT_GT(box.xmax, 3e6);
  EXPECT_LT(box.xmax, 6.4e6);
  EXPECT_NEAR(box.ymax, -box.ymin, 1);
}

TEST_F(CrsTransforms, BoxesMayContainAPole) {
  BoundingBox const box = between("EPSG:3995", "OGC:CRS84").transform(BoundingBox{-1e6, -1e6, 1e6, 1e6}, *proj_);
  EXPECT_EQ(box.xmin, -180);
  EXPECT_EQ(box.xmax, 180);
  EXPECT_EQ(box.ymax, 90);
}

TEST_F(CrsTransforms, LongitudesMayCrossTheAntimeridian) {
  BoundingBox const inward = between("EPSG:4326", "EPSG:32701").transform(BoundingBox{179, -18, -179, -17}, *proj_);
  EXPECT_LT(inward.xmin, inward.xmax);
  EXPECT_LT(inward.xmax - inward.xmin, 250'000);
  BoundingBox const outward = between("EPSG:32701", "OGC:CRS84").transform(inward, *proj_);
  EXPECT_GT(outward.xmin, outward.xmax);
  EXPECT_EQ(kind_of_failure([&] {
              return between("EPSG:32701", "OGC:CRS84").transform(BoundingBox{2, 0, 1, 1}, *proj_);
            }),
            ErrorKind::usage);
}

TEST_F(CrsTransforms, ABoxOfWhichNoPointCanBeTransformedIsAUsageError) {
  EXPECT_EQ(kind_of_failure([&] {
              return between("EPSG:4326", "EPSG:32633").transform(BoundingBox{0, 1e6, 1, 2e6}, *proj_);
            }),
            ErrorKind::usage);
}

TEST_F(CrsTransforms, AFailureLeavesNoTrace) {
  CrsTransform const transform = between("EPSG:4326", "EPSG:32633");
  BoundingBox const good{14, 45, 16, 46};
  BoundingBox const wanted = transform.transform(good, *proj_);
  std::vector<Point> points = {{15, 1e9}};
  transform.transform(points, *proj_);
  EXPECT_EQ(kind_of_failure([&] {
              return transform.transform(BoundingBox{0, 1e6, 1, 2e6}, *proj_);
            }),
            ErrorKind::usage);
  EXPECT_EQ(transform.transform(good, *proj_), wanted);
}

TEST_F(CrsTransforms, HeightsAreLeftOut) {
  std::vector<Point> points = {{15, 45}}, flat = points;
  between("EPSG:4979", "EPSG:32633+5773").transform(points, *proj_);
  between("EPSG:4326", "EPSG:32633").transform(flat, *proj_);
  EXPECT_NEAR(points[0].x, flat[0].x, 1e-6);
  EXPECT_NEAR(points[0].y, flat[0].y, 1e-6);
}

TEST_F(CrsTransforms, TextsThatAreNoCrsAreUsageErrors) {
  for (std::string const text : {"", "EPSG:1", "+init=epsg:4326", "+proj=nonsense", "no such reference system"}) {
    EXPECT_EQ(kind_of_failure([&] { return user_crs(text, *proj_); }), ErrorKind::usage) << text;
  }
}

TEST_F(CrsTransforms, TheCrsOfARasterComesFromItsCodeOrItsWkt) {
  Info info;
  info.source = "a.tif";
  EXPECT_EQ(kind_of_failure([&] { return raster_crs(info, *proj_); }), ErrorKind::usage);
  info.georeference.crs = Crs{};
  Error const error = failure_of([&] { return raster_crs(info, *proj_); });
  EXPECT_EQ(error.kind(), ErrorKind::usage);
  EXPECT_EQ(error.where().source, "a.tif");
  info.georeference.crs->wkt = proj_->wkt(proj_->create("EPSG:3035"), PJ_WKT2_2019);
  EXPECT_EQ(proj_->epsg(raster_crs(info, *proj_)), 3035);
  info.georeference.crs->epsg = 32633;
  EXPECT_EQ(proj_->epsg(raster_crs(info, *proj_)), 32633);
}

TEST_F(CrsTransforms, TextsOfAFileStayRestricted) {
  Info info;
  info.georeference.crs = Crs{.wkt = "+proj=utm +zone=33 +type=crs"};  // a user may type it, a file may not have it
  EXPECT_EQ(kind_of_failure([&] { return raster_crs(info, *proj_); }), ErrorKind::usage);
  EXPECT_TRUE(user_crs(info.georeference.crs->wkt, *proj_));
}

}  // namespace
}  // namespace terrazzo::geo
