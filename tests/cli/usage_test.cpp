// SPDX-License-Identifier: Apache-2.0
#include "usage.hpp"

#include "options.hpp"

#include <gtest/gtest.h>

#include <string>

namespace terrazzo::cli {
namespace {

// What is told of a command line like ours: `terrazzo take FILE --out PATH`, or `terrazzo group one`.
std::string told(std::string const& line) {
  CLI::App app("", "terrazzo");
  app.require_subcommand(1);
  CLI::App* take = app.add_subcommand("take", "");
  std::string file, out;
  Selection selection;
  std::uint32_t count = 0, seed = 0;
  add_file(*take, file);
  take->add_option("-o,--out", out, "")->required()->type_name("PATH");
  add_level(*take, selection);
  add_target(*take, selection);
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

}  // namespace
}  // namespace terrazzo::cli
