// SPDX-License-Identifier: Apache-2.0
#include "ops/validate/layout.hpp"

#include "ops/validate_layouts.hpp"

#include <gtest/gtest.h>

namespace terrazzo::ops {
namespace {

using testing::CogLayout;
using testing::find_rule;
using testing::LaidImage;
using testing::Rules;
using testing::rules_of;

CogLayout of(std::vector<LaidImage> images) {
  CogLayout layout;
  layout.images = std::move(images);
  return layout;
}

LaidImage sparse(std::uint32_t width, std::uint32_t height, std::uint32_t subfile_type = 0, std::uint32_t tile = 64) {
  return {.width = width, .height = height, .subfile_type = subfile_type, .tile = tile, .sparse = true};
}

TEST(ValidateLayout, WantsOverviewsOfLargeImages) {
  EXPECT_EQ(rules_of(of({sparse(513, 20)}).validate()), Rules{"overviews-missing"});
  EXPECT_EQ(rules_of(of({sparse(512, 512)}).validate()), Rules{});
}

TEST(ValidateLayout, CallsBlocksOfFullWidthNotTiledWhenTheyAreWide) {
  EXPECT_EQ(rules_of(of({sparse(1040, 16, 0, 1040), sparse(520, 8, 1)}).validate()), Rules{"not-tiled"});
  EXPECT_EQ(rules_of(of({sparse(1024, 16, 0, 1024), sparse(512, 8, 1)}).validate()), Rules{});
}

TEST(ValidateLayout, WantsOverviewsFromLargeToSmall) {
  Validation const swapped = of({sparse(256, 192), sparse(64, 48, 1), sparse(128, 96, 1)}).validate();
  EXPECT_EQ(rules_of(swapped), Rules{"overview-larger"});
  EXPECT_EQ(swapped.findings[0].ifd, 2U);
  EXPECT_EQ(rules_of(of({sparse(256, 192), sparse(256, 193, 1)}).validate()), Rules{"overview-larger"});
  EXPECT_EQ(rules_of(of({sparse(256, 192), sparse(256, 192, 1)}).validate()), Rules{"overview-size"});
}

TEST(ValidateLayout, WantsOverviewsOfTheSameProportions) {
  // Rounded up, down, and by factors that are no powers of two.
  for (auto const& [w, h] : {std::pair{167U, 129U}, {166U, 128U}, {167U, 128U}, {111U, 86U}, {1U, 2U}}) {
    EXPECT_EQ(rules_of(of({sparse(333, 257), sparse(w, h, 1)}).validate()), Rules{}) << w << " x " << h;
  }
  EXPECT_EQ(rules_of(of({sparse(333, 257), sparse(167, 120, 1)}).validate()), Rules{"overview-size"});
}

TEST(ValidateLayout, NotesThatTheLastLevelIsLarge) {
  EXPECT_EQ(rules_of(of({sparse(4000, 3000), sparse(2000, 1500, 1)}).validate()), Rules{"overviews-few"});
}

TEST(ValidateLayout, WarnsOfOverviewsOfAnotherType) {
  LaidImage other = sparse(128, 96, 1);
  other.bits = 16;
  EXPECT_EQ(rules_of(of({sparse(256, 192), other}).validate()), Rules{"overview-type"});
}

TEST(ValidateLayout, WantsMasksOfAllLevels) {
  std::vector<LaidImage> const whole{sparse(256, 192), sparse(256, 192, 4), sparse(128, 96, 1), sparse(128, 96, 5)};
  EXPECT_EQ(rules_of(of(whole).validate()), Rules{});
  EXPECT_EQ(rules_of(of({whole[0], whole[1], whole[2]}).validate()), Rules{"mask-missing"});
  EXPECT_EQ(rules_of(of({whole[0], whole[1], whole[2], sparse(127, 96, 5)}).validate()),
            (Rules{"mask-missing", "mask-unused", "extra-images"}));
}

TEST(ValidateLayout, WantsMasksBehindTheirImages) {
  // A mask that comes before its image in the chain is nobody's: readers do not know of the image yet.
  Validation const result =
      of({sparse(256, 192), sparse(256, 192, 4), sparse(128, 96, 5), sparse(128, 96, 1)}).validate();
  EXPECT_EQ(rules_of(result), (Rules{"mask-missing", "mask-unused", "extra-images"}));
}

TEST(ValidateLayout, WantsTheSmallestLevelFirst) {
  CogLayout layout;
  layout.bend = [](std::vector<LaidImage>& images) {
    std::swap(images[1].offsets, images[0].offsets);  // the image has more tiles than the overview
    images[0].offsets.resize(12, 0);
    images[0].counts.assign(12, 0);
    images[0].counts[0] = images[1].counts[0];
    images[1].offsets.resize(4);
  };
  EXPECT_NE(find_rule(layout.validate(), "overview-data-order"), nullptr);
}

TEST(ValidateLayout, WantsDirectoriesBeforeTheirTiles) {
  CogLayout layout;
  layout.bend = [](std::vector<LaidImage>& images) { images[2].offsets[0] = 300; };
  Validation const result = layout.validate();
  EXPECT_NE(find_rule(result, "data-before-ifd"), nullptr);
  EXPECT_NE(find_rule(result, "tile-over-metadata"), nullptr);
  EXPECT_NE(find_rule(result, "tile-leader"), nullptr);
  EXPECT_FALSE(result.valid_cog);
}

}  // namespace
}  // namespace terrazzo::ops
