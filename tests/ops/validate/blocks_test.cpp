// SPDX-License-Identifier: Apache-2.0
#include "ops/validate/blocks.hpp"

#include "ops/validate_layouts.hpp"

#include <gtest/gtest.h>

namespace terrazzo::ops {
namespace {

using testing::bent;
using testing::CogLayout;
using testing::find_rule;
using testing::ghost_area;
using testing::Images;
using testing::kGhostLines;
using testing::LaidImage;
using testing::Rules;
using testing::rules_of;
using testing::unpromised;

TEST(ValidateBlocks, FindsTilesPastTheEndOfTheFile) {
  CogLayout layout = unpromised({});
  std::vector<std::byte> bytes = layout.bytes();
  bytes.resize(bytes.size() - 1);
  Validation const result = validate_memory(bytes);
  EXPECT_EQ(rules_of(result), Rules{"tile-past-end"});
  EXPECT_FALSE(result.valid_tiff);
  EXPECT_EQ(result.findings[0].tile, (TileId{3, 2, 0}));
  EXPECT_EQ(result.findings[0].ifd, 0U);
  EXPECT_EQ(result.findings[0].offset, layout.images[0].offsets[11]);
  EXPECT_FALSE(result.findings[0].known_to_gdal);
}

TEST(ValidateBlocks, FindsTilesOutOfOrder) {
  auto const swap = [](Images& images) { std::swap(images[0].offsets[3], images[0].offsets[4]); };
  Validation const promised = bent(swap).validate();
  EXPECT_EQ(rules_of(promised), Rules{"tile-order"});
  EXPECT_EQ(promised.findings[0].tile, (TileId{0, 1, 0}));
  EXPECT_TRUE(promised.findings[0].known_to_gdal);
  Validation const not_promised = unpromised(swap).validate();
  EXPECT_EQ(rules_of(not_promised), Rules{"tile-order-unpromised"});
  EXPECT_TRUE(not_promised.valid_cog);
}

TEST(ValidateBlocks, SeesTheOrderAcrossAMissingTile) {
  // GDAL forgets the offset at a missing tile.
  Validation const result = bent([](Images& images) {
                              std::swap(images[0].offsets[3], images[0].offsets[5]);
                              images[0].offsets[4] = images[0].counts[4] = 0;
                            }).validate();
  EXPECT_EQ(rules_of(result), Rules{"tile-order"});
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_FALSE(result.findings[0].known_to_gdal);
}

TEST(ValidateBlocks, FindsEveryBrokenLeaderAndTrailer) {
  CogLayout layout;
  std::vector<std::byte> bytes = layout.bytes();
  for (LaidImage const& image : layout.images) {
    for (std::uint32_t const offset : image.offsets) { bytes[offset - 2] ^= std::byte{1}; }
  }
  Validation const leaders = validate_memory(bytes);
  EXPECT_EQ(rules_of(leaders), Rules{"tile-leader"});
  EXPECT_EQ(leaders.findings.size(), 17U);

  bytes = layout.bytes();
  for (LaidImage const& image : layout.images) {
    for (std::size_t i = 0; i < image.offsets.size(); ++i) {
      bytes[image.offsets[i] + image.counts[i] + i % 4] ^= std::byte{1};
    }
  }
  Validation const trailers = validate_memory(bytes);
  EXPECT_EQ(rules_of(trailers), Rules{"tile-trailer"});
  EXPECT_EQ(trailers.findings.size(), 17U);
}

TEST(ValidateBlocks, FindsThatTheLastTrailerIsCutOff) {
  std::vector<std::byte> bytes = CogLayout().bytes();
  bytes.resize(bytes.size() - 2);
  Validation const result = validate_memory(bytes);
  EXPECT_EQ(rules_of(result), Rules{"tile-trailer"});
  EXPECT_FALSE(result.findings[0].known_to_gdal);
  EXPECT_TRUE(result.valid_tiff);
}

TEST(ValidateBlocks, TellsAnEmptyTileFromAMissingOne) {
  EXPECT_EQ(rules_of(bent([](Images& i) { i[0].counts[2] = 0; }).validate()), Rules{"tile-empty"});
  EXPECT_EQ(rules_of(bent([](Images& i) { i[0].counts[2] = i[0].offsets[2] = 0; }).validate()), Rules{});
}

TEST(ValidateBlocks, FindsIndexesThatAreTooShort) {
  Validation const result = bent([](Images& images) {
                              images[0].offsets.resize(10);
                              images[0].counts.resize(10);
                            }).validate();
  EXPECT_EQ(rules_of(result), Rules{"index-short"});
  EXPECT_EQ(result.findings.size(), 2U);
  EXPECT_EQ(result.sparse_tiles, 2U);
}

TEST(ValidateBlocks, ChecksThatMasksFollowTheirImages) {
  CogLayout layout;
  layout.ghost = ghost_area(kGhostLines + "MASK_INTERLEAVED_WITH_IMAGERY=YES\n");
  layout.images = {{64, 64}, {64, 64, 4}};
  // Laid out with the mask first: no tile follows its image's.
  Validation const apart = layout.validate();
  EXPECT_EQ(rules_of(apart), Rules{"mask-interleave"});
  EXPECT_EQ(apart.findings[0].ifd, 1U);
  layout.bend = [](Images& images) { std::swap(images[0].offsets, images[1].offsets); };
  EXPECT_EQ(rules_of(layout.validate()), Rules{});
  layout.images[1].tile = 32;
  layout.bend = {};
  EXPECT_EQ(rules_of(layout.validate()), Rules{"mask-block-size"});
}

TEST(ValidateBlocks, BoundsTheTilesOfAFileByItsSize) {
  // Twenty directories of a million tiles each that are not listed: more than the file has bytes to list.
  CogLayout layout;
  layout.images = {{64, 64}};
  for (int i = 0; i < 20; ++i) { layout.images.push_back({.width = 64, .height = 64, .sparse = true}); }
  layout.bend = [](Images& images) {
    for (std::size_t i = 1; i < images.size(); ++i) {
      images[i].width = images[i].height = 16000;
      images[i].tile = 16;
    }
  };
  Validation const result = layout.validate();
  EXPECT_NE(find_rule(result, "tiles-not-checked"), nullptr);
  EXPECT_LT(result.tiles, 2'200'000U);
}

TEST(ValidateBlocks, DoesNotDependOnTheThreads) {
  CogLayout layout;
  layout.images = {{3000, 3000, 0, 16}};
  std::vector<std::byte> bytes = layout.bytes();
  for (std::size_t i = 0; i < layout.images[0].offsets.size(); i += 97) {
    bytes[layout.images[0].offsets[i] - 4] ^= std::byte{1};
  }
  Validation const one = validate_memory(bytes, "a", {.max_findings = 50, .threads = 1});
  Validation const many = validate_memory(bytes, "a", {.max_findings = 50, .threads = 8});
  ASSERT_EQ(one.findings.size(), many.findings.size());
  EXPECT_EQ(one.findings_left_out, many.findings_left_out);
  for (std::size_t i = 0; i < one.findings.size(); ++i) {
    EXPECT_EQ(one.findings[i].message, many.findings[i].message);
  }
}

}  // namespace
}  // namespace terrazzo::ops
