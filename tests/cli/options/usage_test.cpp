// SPDX-License-Identifier: Apache-2.0
#include "options/usage.hpp"

#include "options/options.hpp"

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
  std::vector<std::string> files;
  add_files(*app.add_subcommand("many", ""), files);
  app.add_subcommand("group", "")->require_subcommand(1)->add_subcommand("one", "");
  CLI::App* give = app.add_subcommand("give", "");
  give->add_flag("--boundless", strict, "");
  give->add_flag("--strict", strict, "");
  app.add_subcommand("lend", "")->add_flag("--boundless", strict, "");
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
  EXPECT_EQ(told("group"), "terrazzo group needs one of: one; type \"terrazzo group --help\" for examples");
}

TEST(UsageError, SuggestsTheOptionThatWasMeant) {
  EXPECT_EQ(told("take a.tif --out x --sed 3"), "terrazzo take has no option --sed; type \"--seed\"");
  EXPECT_EQ(told("take a.tif --out x --targ=3"), "terrazzo take has no option --targ; type \"--target-size\"");
  EXPECT_EQ(told("take a.tif --out x --colour"),
            "terrazzo take has no option --colour; type \"terrazzo take --help\" to list its options");
}

TEST(UsageError, NamesTheCommandsWithTheOption) {
  EXPECT_EQ(told("take a.tif --out x --boundless"),
            "terrazzo take has no option --boundless; give and lend have it; type \"terrazzo take --help\" to list its "
            "options");
  EXPECT_EQ(told("lend --strict"),
            "terrazzo lend has no option --strict; take and give have it; type \"terrazzo lend --help\" to list its "
            "options");
}

TEST(UsageError, SuggestsNoWordThatOnlyBeginsAlike) {
  EXPECT_EQ(told("take a.tif --out x --strips 3"),
            "terrazzo take has no option --strips; type \"terrazzo take --help\" to list its options");
  EXPECT_EQ(told("take a.tif --out x --stritc"), "terrazzo take has no option --stritc; type \"--strict\"");
  EXPECT_EQ(told("take a.tif --out x --resample mode"),
            "terrazzo take has no option --resample; type \"--resampling\"");
}

TEST(UsageError, TellsWhatSurplusWordsWereMeantFor) {
  EXPECT_EQ(told("take a.tif b.tif"), "--out is missing; type \"--out b.tif\"");
  EXPECT_EQ(
      told("take a.tif --out x 1 2"),
      "terrazzo take does not take \"1\"; separate numbers of one option by commas: type \"1,2,3\", not \"1 2 3\"");
  EXPECT_EQ(told("take a.tif --out x KEY=2"),
            "terrazzo take does not take \"KEY=2\"; type \"terrazzo take FILE --out PATH\"");
  EXPECT_EQ(told("take a.tif --out x --group"), "terrazzo take has no option --group; type \"terrazzo group\"");
}

TEST(UsageError, NamesTheUnknownOptionAndNotItsValue) {
  EXPECT_EQ(told("many a.tif --indent 2"),
            "terrazzo many has no option --indent; type \"terrazzo many --help\" to list its options");
  EXPECT_EQ(told("take a.tif --out x 2 --colour 3"),
            "terrazzo take has no option --colour; type \"terrazzo take --help\" to list its options");
}

TEST(UsageError, NamesTheValueThatIsNoNumber) {
  EXPECT_EQ(told("take a.tif --out x --scale ten"), "--scale \"ten\": expected a number");
}

TEST(UsageError, NamesAWordTooMany) {
  EXPECT_EQ(told("take a.tif b.tif --out x"),
            "terrazzo take does not take \"b.tif\"; type \"terrazzo take FILE --out PATH\"");
}

TEST(UsageError, ShowsTheValueThatAnOptionWants) {
  EXPECT_EQ(told("take a.tif --out"), "--out needs a value; type \"--out PATH\"");
  EXPECT_EQ(told("take a.tif --out x --target-size"), "--target-size needs a value; type \"--target-size W,H\"");
  EXPECT_EQ(told("take a.tif --out x --seed 1 --seed 2"), "--seed is given twice; type it once");
}

TEST(UsageError, TellsWhichOptionsGoTogether) {
  EXPECT_EQ(told("take a.tif --out x --level 1 --target-size 3,3"),
            "--level and --target-size exclude each other; type one of them");
  EXPECT_EQ(told("take a.tif --out x --seed 1"), "--seed needs --count; type \"--count N\" too");
}

TEST(NearestCommand, IsGuessed) {
  CLI::App app("", "terrazzo");
  app.add_subcommand("take", "");
  app.add_subcommand("give", "");
  EXPECT_EQ(nearest_command(app, "tkae"), "take");
  EXPECT_EQ(nearest_command(app, "giv"), "give");
  EXPECT_EQ(nearest_command(app, "receive"), "");
}

}  // namespace
}  // namespace terrazzo::cli
