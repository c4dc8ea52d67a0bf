// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/info.hpp"

#include <gtest/gtest.h>

namespace terrazzo {
namespace {

TEST(Info, FindsAnItemOfADomain) {
  Metadata metadata;
  metadata.domains[""] = {{"A", "1"}};
  metadata.domains["D"] = {{"A", "2"}};
  ASSERT_NE(metadata.find("A"), nullptr);
  EXPECT_EQ(*metadata.find("A"), "1");
  EXPECT_EQ(*metadata.find("A", "D"), "2");
  EXPECT_EQ(metadata.find("B"), nullptr);
  EXPECT_EQ(metadata.find("A", "E"), nullptr);
}

TEST(Info, TellsAlphaThatIsMultipliedIntoTheColours) {
  BandInfo band;
  EXPECT_FALSE(band.is_premultiplied());
  band.metadata.domains["IMAGE_STRUCTURE"] = {{"ALPHA", "UNSPECIFIED"}};
  EXPECT_FALSE(band.is_premultiplied());
  band.metadata.domains["IMAGE_STRUCTURE"] = {{"ALPHA", "PREMULTIPLIED"}};
  EXPECT_TRUE(band.is_premultiplied());
}

TEST(Info, NamesColorsAndMasksAsGdalDoes) {
  EXPECT_EQ(to_string(ColorInterpretation::gray), "gray");
  EXPECT_EQ(to_string(ColorInterpretation::cb), "ycbcr_cb");
  EXPECT_EQ(to_string(MaskKind::all_valid), "all_valid");
  EXPECT_EQ(to_string(MaskKind::internal), "internal");
}

}  // namespace
}  // namespace terrazzo
