// SPDX-License-Identifier: Apache-2.0
#include "options/parse.hpp"

#include <gtest/gtest.h>

#include <string>

namespace terrazzo::cli {
namespace {

template <class Parse>
void expect_usage(Parse const& parse) {
  try {
    parse();
    ADD_FAILURE() << "not refused";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(error.message().find("--x"), std::string::npos) << "the option is named";
  }
}

TEST(ParseScale, TakesFourNumbers) {
  LinearScale const scale = parse_scale("--scale", "-5,3e3,255,0");
  EXPECT_EQ(scale.from_min, -5);
  EXPECT_EQ(scale.from_max, 3000);
  EXPECT_EQ(scale.to_min, 255);
  EXPECT_EQ(scale.to_max, 0);
  for (char const* bad : {"", "0,1", "0,1,2", "0,1,2,3,4", "0,x,2,3", "0,nan,2,3", "0,inf,2,3", "7,7,0,1"}) {
    EXPECT_THROW((void)parse_scale("--scale", bad), Error) << bad;
  }
}

TEST(LowerCase, IsForAsciiAlone) { EXPECT_EQ(lower_case("A.TiF\xC3\x84z[@"), "a.tif\xC3\x84z[@"); }

TEST(ExtensionOf, IsInLowerCase) {
  EXPECT_EQ(extension_of("a.b/c.TIF"), ".tif");
  EXPECT_EQ(extension_of("a.b/c"), "");
}

TEST(AreNumbers, TakesOneOrSeveral) {
  for (auto const* word : {"1", "-9999", "1e3", "2,4,8", "-1.5,2"}) { EXPECT_TRUE(are_numbers(word)) << word; }
  for (auto const* word : {"", "-", "a1", "1x", "-co", "50%", "e"}) { EXPECT_FALSE(are_numbers(word)) << word; }
}

TEST(ParseSize, KnowsUnits) {
  EXPECT_EQ(parse_size("--x", "65536"), 65536U);
  EXPECT_EQ(parse_size("--x", "512M"), std::uint64_t{512} << 20);
  EXPECT_EQ(parse_size("--x", "1.5g"), std::uint64_t{3} << 29);
  EXPECT_EQ(parse_size("--x", "2K"), 2048U);
  EXPECT_EQ(parse_size("--x", "1T"), std::uint64_t{1} << 40);
  EXPECT_EQ(parse_size("--x", "0"), 0U) << "the default, as in the environment";
}

TEST(ParseSize, RefusesWhatIsNoSize) {
  for (auto const* text : {"", "M", "-1", "12X", "1e30", "nan", "5 M"}) {
    expect_usage([&] { (void)parse_size("--x", text); });
  }
}

TEST(ParseWhole, KeepsToItsRange) {
  EXPECT_EQ(parse_whole("--x", "0", 0, 9), 0U);
  EXPECT_EQ(parse_whole("--x", "9", 0, 9), 9U);
  for (auto const* text : {"", "-1", "10", "1.5", "0x3", "3 ", "99999999999999999999"}) {
    expect_usage([&] { (void)parse_whole("--x", text, 0, 9); });
  }
  try {
    (void)parse_whole("--x", "abc", 1, 9);
  } catch (Error const& error) { EXPECT_EQ(error.message(), "--x \"abc\": expected a whole number, 1 to 9"); }
}

// Where the form is right, the text must say what else is wrong.
TEST(ParseNumbers, TellTheLargestToThoseWhoPassIt) {
  auto const message_of = [](auto const& parse) -> std::string {
    try {
      parse();
    } catch (Error const& error) { return error.message(); }
    return "not refused";
  };
  constexpr std::uint64_t kMost = 4294967295;
  EXPECT_EQ(message_of([&] { (void)parse_whole("--x", "99999999999", 1, kMost); }),
            "--x \"99999999999\": expected a whole number, 1 to 4294967295");
  EXPECT_EQ(message_of([&] { (void)parse_whole("--x", "99999999999999999999", 1, kMost); }),
            "--x \"99999999999999999999\": expected a whole number, 1 to 4294967295");
  EXPECT_EQ(message_of([&] { (void)parse_whole("--x", "0", 1, kMost); }), "--x \"0\": expected a whole number from 1");
  EXPECT_EQ(message_of([&] { (void)parse_window("--x", "0,0,4294967296,5"); }),
            "--x \"0,0,4294967296,5\": expected COLUMN,ROW,WIDTH,HEIGHT in pixels, none above 4294967295");
  EXPECT_EQ(message_of([&] { (void)parse_window("--x", "0,0,a,5"); }),
            "--x \"0,0,a,5\": expected COLUMN,ROW,WIDTH,HEIGHT in pixels");
  EXPECT_EQ(message_of([&] { (void)parse_window("--x", "0"); }),
            "--x \"0\": expected COLUMN,ROW,WIDTH,HEIGHT in pixels, joined by commas, such as 0,0,512,512");
  EXPECT_EQ(message_of([&] { (void)parse_bands("--x", "1-4294967296"); }),
            "--x \"1-4294967296\": expected band numbers from 1, such as 3,2,1 or 1-4, none above 4294967295");
  EXPECT_EQ(message_of([&] { (void)parse_bands("--x", "1-4000000000"); }),
            "--x \"1-4000000000\": expected fewer bands");
}

TEST(ParseChoice, GivesTheIndexOrListsTheNames) {
  std::vector<std::string> const names = {"red", "green", "blue"};
  EXPECT_EQ(parse_choice("--x", "green", names), 1U);
  try {
    (void)parse_choice("--x", "gren", names);
    ADD_FAILURE() << "not refused";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_EQ(error.message(), "--x \"gren\": expected red, green or blue");
  }
  try {
    (void)parse_choice("--x", "Gre", names);
    ADD_FAILURE() << "not refused";
  } catch (Error const& error) {
    EXPECT_EQ(error.message(), "--x \"Gre\": expected red, green or blue; type \"--x green\"");
  }
}

TEST(ParseWindow, TakesFourNumbers) {
  EXPECT_EQ(parse_window("--x", "1,2,30,40"), (GridWindow{1, 2, 30, 40}));
  EXPECT_EQ(parse_window("--x", "-1,-20,30,40"), (GridWindow{-1, -20, 30, 40}));
}

TEST(ParseWindow, RefusesAnythingElse) {
  for (auto const* text :
       {"1,2,3", "1,2,3,4,5", "1,0,-5,5", "-,0,5,5", "1,2,3,", "a,b,c,d", "1 2 3 4", "4294967296,0,1,1"}) {
    expect_usage([&] { (void)parse_window("--x", text); });
  }
}

TEST(ParseBands, KeepsOrderAndRepeatsAndSpellsRangesOut) {
  EXPECT_EQ(parse_bands("--x", "3,1,1"), (std::vector<std::uint32_t>{3, 1, 1}));
  EXPECT_EQ(parse_bands("--x", "2-4,1"), (std::vector<std::uint32_t>{2, 3, 4, 1}));
  EXPECT_EQ(parse_bands("--x", "4294967294-4294967295"), (std::vector<std::uint32_t>{4294967294U, 4294967295U}));
}

TEST(ParseBands, RefusesZeroAndNonsense) {
  for (auto const* text : {"0", "", "1,", "4-2", "1-", "-3", "1-4000000000", "x"}) {
    expect_usage([&] { (void)parse_bands("--x", text); });
  }
}

TEST(ParseTargetSize, TakesCommaOrCross) {
  EXPECT_EQ(parse_target_size("--x", "800,600").height, 600U);
  EXPECT_EQ(parse_target_size("--x", "800x600").width, 800U);
  for (auto const* text : {"0,5", "5", "5,0", "1,2,3", "axb"}) {
    expect_usage([&] { (void)parse_target_size("--x", text); });
  }
}

TEST(ParsePair, OneMayStandForBoth) {
  EXPECT_EQ(parse_pair("--x", "2,98", false), (std::pair{2.0, 98.0}));
  EXPECT_EQ(parse_pair("--x", "0.5", true), (std::pair{0.5, 0.5}));
  for (auto const* text : {"1", "1,2,3", "1,inf", "a,b", ""}) {
    expect_usage([&] { (void)parse_pair("--x", text, false); });
  }
}

TEST(ParseBbox, TakesFourFiniteNumbers) {
  EXPECT_EQ(parse_bbox("--x", "-10.5,-20,1e3,6"), (BoundingBox{-10.5, -20, 1000, 6}));
  EXPECT_EQ(parse_bbox("--x", "179,-18,-179,-17").xmin, 179);  // across the antimeridian
  for (auto const* text : {"", "1,2,3", "1,2,3,4,5", "1,2,3,nan", "inf,2,3,4", "1e400,2,3,4", "1 2 3 4", "a,b,c,d"}) {
    expect_usage([&] { (void)parse_bbox("--x", text); });
  }
}

TEST(ParsePoint, TakesTwoFiniteNumbers) {
  EXPECT_EQ(parse_point("--x", "-9.25,45.3"), (Point{-9.25, 45.3}));
  for (auto const* text : {"", "1", "1,2,3", "nan,1", "1,-inf", "x,y"}) {
    expect_usage([&] { (void)parse_point("--x", text); });
  }
}

TEST(ParseCrsText, TakesCodesDefinitionsAndNames) {
  EXPECT_EQ(parse_crs_text("--x", "4326"), "EPSG:4326");
  for (auto const* text :
       {"EPSG:4326", "OGC:CRS84", "+proj=utm +zone=33", "GEOGCRS[\"WGS 84\"]", "{\"type\": \"x\"}", "WGS 84", "here"}) {
    EXPECT_EQ(parse_crs_text("--x", text), text);
  }
  for (auto const* text : {"", " \n"}) {
    expect_usage([&] { (void)parse_crs_text("--x", text); });
  }
}

TEST(ParseDtype, KnowsNumpysNames) {
  EXPECT_EQ(parse_dtype("--x", "float32"), DType::f32);
  expect_usage([] { (void)parse_dtype("--x", "float7"); });
}

}  // namespace
}  // namespace terrazzo::cli
