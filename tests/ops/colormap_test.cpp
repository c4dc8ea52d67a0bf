// SPDX-License-Identifier: Apache-2.0
#include "ops/colormap.hpp"

#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <string>

namespace terrazzo::ops {
namespace {

TEST(Colormap, GrayIsTheIdentity) {
  Colormap const map = make_colormap("gray");
  for (std::size_t i = 0; i < map.size(); ++i) {
    auto const v = static_cast<std::uint8_t>(i);
    EXPECT_EQ(map[i], (Rgb{v, v, v}));
  }
}

TEST(Colormap, EndsAreTheStopsOfTheRamp) {
  EXPECT_EQ(make_colormap("viridis").front(), (Rgb{0x44, 0x01, 0x54}));
  EXPECT_EQ(make_colormap("viridis").back(), (Rgb{0xfd, 0xe7, 0x25}));
  EXPECT_EQ(make_colormap("magma").front(), (Rgb{0, 0, 4}));
  EXPECT_EQ(make_colormap("terrain").back(), (Rgb{255, 255, 255}));
}

TEST(Colormap, PassesThroughInnerStops) {
  EXPECT_EQ(make_colormap("viridis")[17], (Rgb{0x48, 0x1a, 0x6c}));   // 1/15 of the way
  EXPECT_EQ(make_colormap("magma")[17 * 7], (Rgb{0xa8, 0x32, 0x7d}));
}

TEST(Colormap, ViridisGetsLighterAllTheWay) {
  Colormap const map = make_colormap("viridis");
  auto const lightness = [](Rgb c) { return 0.2126 * c.red + 0.7152 * c.green + 0.0722 * c.blue; };
  for (std::size_t i = 8; i < map.size(); i += 8) { EXPECT_GT(lightness(map[i]), lightness(map[i - 8])) << i; }
}

TEST(Colormap, UnknownNameIsUsageAndListsTheNames) {
  try {
    (void)make_colormap("rainbow");
    FAIL();
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(std::string(error.what()).find("viridis, magma, terrain, gray"), std::string::npos);
  }
}

}  // namespace
}  // namespace terrazzo::ops
