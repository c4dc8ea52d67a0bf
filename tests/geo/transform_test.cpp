// SPDX-License-Identifier: Apache-2.0
#include "geo/transform.hpp"

#include "support/tiff_builder.hpp"
#include "tiff/format.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace terrazzo::geo {
namespace {

using testing::TiffBuilder;
namespace tag = tiff::tag;

class TransformFromTags : public ::testing::TestWithParam<std::endian> {};
INSTANTIATE_TEST_SUITE_P(BothByteOrders, TransformFromTags, ::testing::Values(std::endian::little, std::endian::big));

TEST_P(TransformFromTags, UsesScaleAndTiepoint) {
  TiffBuilder tiff(GetParam());
  tiff.doubles(tag::ModelPixelScale, {10, 20, 0}).doubles(tag::ModelTiepoint, {2, 3, 0, 500, 900, 0});
  auto const found = transform_from_tags(tiff.directory(), false);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->transform, (Transform{480, 10, 0, 960, 0, -20}));
  EXPECT_EQ(found->source, TransformSource::pixel_scale);
}

TEST(Transform, MovesPixelIsPointByHalfAPixel) {
  TiffBuilder tiff;
  tiff.doubles(tag::ModelPixelScale, {10, 20, 0}).doubles(tag::ModelTiepoint, {0, 0, 0, 500, 900, 0});
  EXPECT_EQ(transform_from_tags(tiff.directory(), true)->transform, (Transform{495, 10, 0, 910, 0, -20}));
}

TEST(Transform, TakesANegativeScaleYAsNorthUp) {
  TiffBuilder tiff;
  tiff.doubles(tag::ModelPixelScale, {10, -20, 0}).doubles(tag::ModelTiepoint, {0, 0, 0, 500, 900, 0});
  EXPECT_EQ(transform_from_tags(tiff.directory(), false)->transform, (Transform{500, 10, 0, 900, 0, -20}));
}

TEST(Transform, UsesTheMatrixWithItsRotation) {
  TiffBuilder tiff;
  tiff.doubles(tag::ModelTransformation, {1, 2, 0, 100, 3, 4, 0, 200, 0, 0, 0, 0, 0, 0, 0, 1});
  auto const area = transform_from_tags(tiff.directory(), false);
  EXPECT_EQ(area->transform, (Transform{100, 1, 2, 200, 3, 4}));
  EXPECT_EQ(area->source, TransformSource::matrix);
  EXPECT_EQ(transform_from_tags(tiff.directory(), true)->transform, (Transform{98.5, 1, 2, 196.5, 3, 4}));
}

TEST(Transform, PrefersScaleOverMatrixButNotAScaleOfZero) {
  TiffBuilder both;
  both.doubles(tag::ModelPixelScale, {10, 20, 0})
      .doubles(tag::ModelTiepoint, {0, 0, 0, 1, 2, 0})
      .doubles(tag::ModelTransformation, {1, 2, 0, 100, 3, 4, 0, 200, 0, 0, 0, 0, 0, 0, 0, 1});
  EXPECT_EQ(transform_from_tags(both.directory(), false)->source, TransformSource::pixel_scale);
  TiffBuilder zero;
  zero.doubles(tag::ModelPixelScale, {0, 20, 0})
      .doubles(tag::ModelTransformation, {1, 2, 0, 100, 3, 4, 0, 200, 0, 0, 0, 0, 0, 0, 0, 1});
  EXPECT_EQ(transform_from_tags(zero.directory(), false)->source, TransformSource::matrix);
}

TEST(Transform, NeedsATiepointForAScaleAndSixteenValuesForAMatrix) {
  EXPECT_FALSE(transform_from_tags(TiffBuilder().doubles(tag::ModelPixelScale, {10, 20, 0}).directory(), false));
  EXPECT_FALSE(transform_from_tags(
      TiffBuilder().doubles(tag::ModelPixelScale, {1, 1}).doubles(tag::ModelTiepoint, {0, 0, 0, 1, 1}).directory(),
      false));
  EXPECT_FALSE(transform_from_tags(
      TiffBuilder().doubles(tag::ModelTransformation, std::vector<double>(15, 1)).directory(), false));
  EXPECT_FALSE(transform_from_tags(
      TiffBuilder().doubles(tag::ModelTransformation, std::vector<double>(17, 1)).directory(), false));
  EXPECT_FALSE(transform_from_tags(TiffBuilder().shorts(tag::ImageWidth, {1}).directory(), false));
}

TEST(Gcps, AreTheTiepointsInOrderAndIncompleteOnesAreLeftOut) {
  TiffBuilder tiff;
  tiff.doubles(tag::ModelTiepoint, {1, 2, 0, 10, 20, 30, 3, 4, 0, 40, 50, 60, 5});
  auto const gcps = gcps_from_tags(tiff.directory(), false);
  ASSERT_EQ(gcps.size(), 2U);
  EXPECT_EQ(gcps[0].id, "1");
  EXPECT_EQ(gcps[1].id, "2");
  EXPECT_EQ(gcps[1].column, 3);
  EXPECT_EQ(gcps[1].row, 4);
  EXPECT_EQ(gcps[1].x, 40);
  EXPECT_EQ(gcps[1].y, 50);
  EXPECT_EQ(gcps[1].z, 60);
  EXPECT_EQ(gcps_from_tags(tiff.directory(), true)[0].column, 1.5);
}

TEST(WorldFile, GivesTheCornerOfTheFirstPixel) {
  auto const t = transform_from_world_file("60\n0.0\r\n0.0\r\n-60\n\n440750\n3751290\nmore\n");
  ASSERT_TRUE(t);
  EXPECT_EQ(*t, (Transform{440720, 60, 0, 3751320, 0, -60}));
}

TEST(WorldFile, AcceptsDecimalCommas) {
  EXPECT_EQ(transform_from_world_file("0,5\n0\n0\n-0,5\n1,25\n2,25")->at(0), 1.0);
}

TEST(WorldFile, IsRefusedWhenLinesAreMissingOrPixelsHaveNoSize) {
  EXPECT_FALSE(transform_from_world_file(""));
  EXPECT_FALSE(transform_from_world_file("1\n0\n0\n-1\n5\n"));
  EXPECT_FALSE(transform_from_world_file("0\n0\n0\n-1\n5\n5\n"));
  EXPECT_FALSE(transform_from_world_file("1\n0\n0\n0\n5\n5\n"));
}

TEST(WorldFile, IsLookedForUnderTheCustomaryNames) {
  EXPECT_EQ(world_file_names("a.b/dem.tif"), (std::vector<std::string>{"a.b/dem.tfw", "a.b/dem.TFW", "a.b/dem.tifw",
                                                                       "a.b/dem.TIFW", "a.b/dem.wld", "a.b/dem.WLD"}));
  EXPECT_EQ(world_file_names("a.b/dem"), (std::vector<std::string>{"a.b/dem.wld", "a.b/dem.WLD"}));
}

}  // namespace
}  // namespace terrazzo::geo
