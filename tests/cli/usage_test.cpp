// SPDX-License-Identifier: Apache-2.0
#include "usage.hpp"

#include "options.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace terrazzo::cli {
namespace {

// What is told of a command line like ours: `terrazzo take FILE --out PATH`, or `terrazzo group one`.
std::string told(std::string const& line) {
  CLI::App app("", "terrazzo");
  app.require_subcommand(1);
  CLI::App* take = app.add_subcommand("take", "");
  std::string file, out, resampling;
  Selection selection;
  std::uint32_t count = 0, seed = 0;
  double scale = 1;
  bool strict = false;
  add_file(*take, file);
  take->add_option("-o,--out", out, "")->required()->type_name("PATH");
  add_level(*take, selection);
  add_target(*take, selection);
  take->add_flag("--strict", strict, "");
  take->add_option("--scale", scale, "");
  take->add_option("--resampling", resampling, "");
  add_whole(*take, "--seed", seed, "")->needs(add_whole(*take, "--count", count, ""));
  app.add_subcommand("group", "")->require_subcommand(1)->add_subcommand("one", "");
  try {
    app.parse(line, false);
  } catch (CLI::ParseError const& error) {
    Error const ours = usage_error(app, error);
    EXPECT_EQ(ours.kind(), ErrorKind::usage);
    return ours.message();
  }
  return "";
}

TEST(UsageError, OfACommandThatParsesIsNone) { EXPECT_EQ(told("take a.tif --out x"), ""); }

TEST(UsageError, NamesWhatIsMissingAndShowsTheShortestLine) {
  EXPECT_EQ(told("take"), "FILE is missing; type \"terrazzo take FILE --out PATH\"");
  EXPECT_EQ(told("take a.tif"), "--out is missing; type \"terrazzo take FILE --out PATH\"");
  EXPECT_EQ(told("group"), "terrazzo group wants one of: one; type \"terrazzo group --help\" for examples");
}

TEST(UsageError, SuggestsTheOptionThatWasMeant) {
  EXPECT_EQ(told("take a.tif --out x --sed 3"), "terrazzo take has no option --sed; type \"--seed\"");
  EXPECT_EQ(told("take a.tif --out x --targ=3"), "terrazzo take has no option --targ; type \"--target-size\"");
  EXPECT_EQ(told("take a.tif --out x --colour"),
            "terrazzo take has no option --colour; type \"terrazzo take --help\" to see those it has");
}

TEST(UsageError, SuggestsNoWordThatOnlyBeginsAlike) {
  EXPECT_EQ(told("take a.tif --out x --strips 3"),
            "terrazzo take has no option --strips; type \"terrazzo take --help\" to see those it has");
  EXPECT_EQ(told("take a.tif --out x --stritc"), "terrazzo take has no option --stritc; type \"--strict\"");
  EXPECT_EQ(told("take a.tif --out x --resample mode"),
            "terrazzo take has no option --resample; type \"--resampling\"");
}

TEST(UsageError, KnowsTheNamesOfOtherPrograms) {
  EXPECT_EQ(told("take a.tif --out x -r mode"), "terrazzo take has no option -r; type \"--resampling\"");
  EXPECT_EQ(told("take a.tif --out x -a_srs EPSG:4326"),
            "terrazzo take has no option -a_srs; type \"terrazzo take --help\" to see those it has");
}

TEST(UsageError, TellsWhatSurplusWordsWereMeantFor) {
  EXPECT_EQ(told("take a.tif b.tif"), "--out is missing; type \"--out b.tif\"");
  EXPECT_EQ(
      told("take a.tif --out x 1 2"),
      "terrazzo take has no use for \"1\"; numbers of one option are joined by commas: type \"1,2,3\", not \"1 2 3\"");
  EXPECT_EQ(told("take a.tif --out x KEY=2"),
            "terrazzo take has no use for \"KEY=2\"; type \"terrazzo take FILE --out PATH\"");
  EXPECT_EQ(told("take a.tif --out x --group"), "terrazzo take has no option --group; type \"terrazzo group\"");
}

TEST(UsageError, NamesTheValueThatIsNoNumber) {
  EXPECT_EQ(told("take a.tif --out x --scale ten"), "--scale \"ten\": want a number");
}

TEST(UsageError, NamesAWordTooMany) {
  EXPECT_EQ(told("take a.tif b.tif --out x"),
            "terrazzo take has no use for \"b.tif\"; type \"terrazzo take FILE --out PATH\"");
}

TEST(UsageError, ShowsTheValueThatAnOptionWants) {
  EXPECT_EQ(told("take a.tif --out"), "--out wants a value; type \"--out PATH\"");
  EXPECT_EQ(told("take a.tif --out x --target-size"), "--target-size wants a value; type \"--target-size W,H\"");
  EXPECT_EQ(told("take a.tif --out x --seed 1 --seed 2"), "--seed is given twice; type it once");
}

TEST(UsageError, TellsWhichOptionsGoTogether) {
  EXPECT_EQ(told("take a.tif --out x --level 1 --target-size 3,3"),
            "--level and --target-size exclude each other; type one of them");
  EXPECT_EQ(told("take a.tif --out x --seed 1"), "--seed is of use with --count only; type \"--count N\" too");
}

// A program with the commands `take` (-o, --dtype) and `give`.
class Names : public ::testing::Test {
 protected:
  Names() : app_("", "terrazzo") {
    CLI::App* const take = app_.add_subcommand("take", "");
    take->add_option("-o,--out", text_, "");
    take->add_option("--dtype", text_, "");
    app_.add_subcommand("give", "");
  }

  std::string told_of(std::vector<char const*> const& words) const {
    try {
      check_other_names(app_, words);
    } catch (Error const& error) { return error.message(); }
    return "";
  }

  CLI::App app_;
  std::string text_;
};

TEST_F(Names, OfOtherProgramsAreNotTakenForAShortOptionAndItsValue) {
  EXPECT_EQ(told_of({"take", "a.tif", "-ot", "Int16"}), "terrazzo take has no option -ot; type \"--dtype\"");
  EXPECT_EQ(told_of({"take", "a.tif", "-ob.tif"}), "");
  EXPECT_EQ(told_of({"give", "-ot"}), "");
  EXPECT_EQ(told_of({"steal", "-ot"}), "");
  EXPECT_EQ(told_of({}), "");
}

TEST_F(Names, OfCommandsAreGuessed) {
  EXPECT_EQ(nearest_command(app_, "tkae"), "take");
  EXPECT_EQ(nearest_command(app_, "giv"), "give");
  EXPECT_EQ(nearest_command(app_, "receive"), "");
}

}  // namespace
}  // namespace terrazzo::cli
