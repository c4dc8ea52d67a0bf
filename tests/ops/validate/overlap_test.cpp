// SPDX-License-Identifier: Apache-2.0
#include "ops/validate/overlap.hpp"

#include "ops/validate_layouts.hpp"

#include <gtest/gtest.h>

namespace terrazzo::ops {
namespace {

using testing::CogLayout;
using testing::Images;
using testing::Rules;
using testing::rules_of;
using testing::unpromised;

TEST(ValidateOverlap, FindsTilesOnOneAnother) {
  Validation const result = unpromised([](Images& images) { images[0].counts[4] += 1; }).validate();
  EXPECT_EQ(rules_of(result), Rules{"tile-overlap"});
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].tile, (TileId{1, 1, 0}));
  EXPECT_NE(result.findings[0].message.find("tile (0, 1)"), std::string::npos);
}

TEST(ValidateOverlap, FindsTilesOfOneLevelOnThoseOfAnother) {
  Validation const result =
      unpromised([](Images& images) { images[1].offsets[3] = images[0].offsets[0] + 1; }).validate();
  EXPECT_EQ(rules_of(result), Rules{"tile-overlap"});
  EXPECT_EQ(result.findings.size(), 2U);  // it reaches into two tiles
}

TEST(ValidateOverlap, FindsATileInsideALargerOneThatIsNotTheNeighbour) {
  Validation const result = unpromised([](Images& images) {
                              images[0].counts[0] = 3 * 4096;  // over tiles 1 and 2
                            }).validate();
  EXPECT_EQ(result.findings.size(), 2U);
  EXPECT_EQ(rules_of(result), Rules{"tile-overlap"});
}

TEST(ValidateOverlap, TellsSharedTilesFromOverlaps) {
  Validation const result = unpromised([](Images& images) { images[0].offsets[5] = images[0].offsets[4]; }).validate();
  EXPECT_EQ(rules_of(result), Rules{"tile-shared"});
  EXPECT_TRUE(result.valid_cog);
}

TEST(ValidateOverlap, FindsTilesOnMetadata) {
  Validation const result = unpromised([](Images& images) { images[2].offsets[0] -= 1; }).validate();
  EXPECT_EQ(rules_of(result), Rules{"tile-over-metadata"});
}

TEST(ValidateOverlap, MeasuresSlackAndDeadSpace) {
  CogLayout layout;
  layout.slack_bytes = 1000;
  Validation const little = layout.validate();
  EXPECT_EQ(rules_of(little), Rules{});
  EXPECT_EQ(little.slack_bytes, 1000U);
  EXPECT_EQ(little.header_bytes + 1000 + 4, layout.images[2].offsets[0]);  // the leader counts as the tile's
  layout.slack_bytes = 70'000;
  EXPECT_EQ(rules_of(layout.validate()), Rules{"slack"});

  layout.slack_bytes = 0;
  std::vector<std::byte> bytes = layout.bytes();
  bytes.resize(bytes.size() + 100'000);
  Validation const appended = validate_memory(bytes);
  EXPECT_EQ(rules_of(appended), Rules{"dead-space"});
  EXPECT_NE(appended.findings[0].message.find("100000 of"), std::string::npos);
}

TEST(ValidateOverlap, CountsWhatItDoesNotTell) {
  auto const overlapping = [](Images& images) {
    for (std::uint32_t& count : images[0].counts) { count += 1; }
  };
  CogLayout layout = unpromised(overlapping);
  std::vector<std::byte> bytes = layout.bytes();
  bytes.resize(bytes.size() + 1);
  Validation const result = validate_memory(bytes, "a", {.max_findings = 3});
  EXPECT_EQ(result.findings.size(), 3U);
  EXPECT_EQ(result.findings_left_out, 8U);
}

TEST(MetadataExtents, AreMergedAndCoverHeaderDirectoriesAndValues) {
  CogLayout layout;
  std::vector<std::byte> const bytes = layout.bytes();
  Findings findings(9);
  MemoryBudget budget(std::uint64_t{1} << 30);
  CheckedFile const file = collect_images(open_memory(bytes), 0, budget, findings);
  std::vector<Extent> const extents = metadata_extents(file);
  ASSERT_EQ(extents.size(), 1U);  // nothing lies between them
  EXPECT_EQ(extents[0].begin, 0U);
  EXPECT_EQ(extents[0].end, layout.images[2].offsets[0] - 4);
}

}  // namespace
}  // namespace terrazzo::ops
