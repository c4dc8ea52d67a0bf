// SPDX-License-Identifier: Apache-2.0
#include "ops/preview/colormap.hpp"

#include "terrazzo/error.hpp"
#include "terrazzo/stats.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
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
  EXPECT_EQ(make_colormap("gray")[17], (Rgb{17, 17, 17}));
  EXPECT_EQ(make_colormap("terrain")[0], (Rgb{0x3f, 0x7f, 0x63}));
}

TEST(Colormap, IsWithinFourOfMatplotlibs) {
  struct Case {
    char const* name;
    std::array<std::uint32_t, 7> colors;  // matplotlib 3.11: entries 0, 51, 102, 128, 153, 204, 255
  };
  constexpr std::array<std::size_t, 7> kEntries{0, 51, 102, 128, 153, 204, 255};
  for (Case const& c : {
           Case{"viridis", {0x440154, 0x414487, 0x2a788e, 0x21918c, 0x22a884, 0x7ad151, 0xfde725}},
           Case{"magma", {0x000004, 0x3b0f70, 0x8c2981, 0xb73779, 0xde4968, 0xfe9f6d, 0xfcfdbf}},
           Case{"inferno", {0x000004, 0x420a68, 0x932667, 0xbc3754, 0xdd513a, 0xfca50a, 0xfcffa4}},
           Case{"plasma", {0x0d0887, 0x6a00a8, 0xb12a90, 0xcc4778, 0xe16462, 0xfca636, 0xf0f921}},
           Case{"cividis", {0x00224e, 0x35456c, 0x666970, 0x7d7c78, 0x948e77, 0xc8b866, 0xfee838}},
           Case{"turbo", {0x30123b, 0x3e9bfe, 0x46f884, 0xa4fc3c, 0xe1dd37, 0xf05b12, 0x7a0403}},
       }) {
    Colormap const map = make_colormap(c.name);
    for (std::size_t i = 0; i < kEntries.size(); ++i) {
      Rgb const color = map[kEntries[i]];
      EXPECT_NEAR(color.red, c.colors[i] >> 16, 4) << c.name << ' ' << i;
      EXPECT_NEAR(color.green, c.colors[i] >> 8 & 255U, 4) << c.name << ' ' << i;
      EXPECT_NEAR(color.blue, c.colors[i] & 255U, 4) << c.name << ' ' << i;
    }
  }
}

TEST(Colormap, WithAnEndOfRIsReversed) {
  for (std::string const& name : colormap_names()) {
    Colormap const map = make_colormap(name), reversed = make_colormap(name + "_r");
    EXPECT_TRUE(std::equal(map.rbegin(), map.rend(), reversed.begin())) << name;
  }
  EXPECT_THROW((void)make_colormap("_r"), Error);
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
    EXPECT_NE(std::string(error.what()).find("viridis, magma, inferno, plasma, cividis, turbo, terrain, gray"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace terrazzo::ops
