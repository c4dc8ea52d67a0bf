// SPDX-License-Identifier: Apache-2.0
#include "ops/validate/images.hpp"

#include "ops/validate_layouts.hpp"

#include <gtest/gtest.h>

namespace terrazzo::ops {
namespace {

using testing::CogLayout;
using testing::Rules;
using testing::rules_of;

TEST(CollectImages, GivesEachDirectoryItsRole) {
  CogLayout layout;
  layout.images = {{256, 192}, {256, 192, 4}, {128, 96, 1}, {128, 96, 5}, {100, 100}};
  std::vector<std::byte> const bytes = layout.bytes();
  Findings findings(9);
  MemoryBudget budget(std::uint64_t{1} << 30);
  CheckedFile const file = collect_images(open_memory(bytes), 0, budget, findings);
  std::vector<std::string> names;
  for (CheckedImage const& image : file.images) { names.push_back(image.name()); }
  EXPECT_EQ(names, (std::vector<std::string>{"full resolution", "mask of the full resolution", "overview 1",
                                             "mask of overview 1", "page 4"}));
  EXPECT_EQ(file.level_count(), 2U);
  EXPECT_EQ(file.levels_outside, 0U);
  EXPECT_EQ(findings.count(Rule::extra_images), 1U);
  EXPECT_EQ(file.find(Role::mask, 1)->image.ifd, 3U);
  EXPECT_EQ(file.find(Role::mask, 2), nullptr);
  EXPECT_EQ(file.images[0].image.tile_id(7), (TileId{3, 1, 0}));
}

TEST(CollectImages, TellsOfAChainThatIsBroken) {
  CogLayout layout;
  layout.last_link = 8 + static_cast<std::uint32_t>(layout.ghost.size()) + 1;
  Validation const loop = layout.validate();
  EXPECT_EQ(rules_of(loop), Rules{"chain-broken"});
  layout.last_link = 0xFFFFFFF0;
  EXPECT_EQ(rules_of(layout.validate()), Rules{"chain-broken"});
}

TEST(CollectImages, TellsOfOverviewsThatAreNobodys) {
  CogLayout layout;
  layout.images[2].sparse = true;
  layout.images[2].tile = 16;
  layout.bend = [](auto& images) { images[2].width = 0; };
  EXPECT_EQ(rules_of(layout.validate()), Rules{"overview-unused"});
}

}  // namespace
}  // namespace terrazzo::ops
