// SPDX-License-Identifier: Apache-2.0
#include "batch/conversion_batch.hpp"

#include "options/write_options.hpp"
#include "support/failure.hpp"

#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

namespace terrazzo::cli {
namespace {

struct Parsed {
  explicit Parsed(std::vector<std::string> words) {
    add_conversion_files(command, files);
    add_conversion_choices(command, choices, selection, true);
    add_common(command, common);
    std::reverse(words.begin(), words.end());  // the order that CLI11 takes
    command.parse(std::move(words));
  }
  CLI::App command{"", "convert"};
  ConversionFiles files;
  WriteChoices choices;
  Selection selection;
  CommonOptions common;
};

std::string text_of(std::vector<std::string> words) { return options_text(Parsed(std::move(words)).command); }

TEST(OptionsText, HasOptionsThatChangeTheOutputs) {
  EXPECT_EQ(text_of({"a.tif", "--out-dir", "x"}), "convert");
  EXPECT_EQ(text_of({"a.tif", "b.tif", "--out-dir", "x", "--jobs", "3", "--threads", "2", "--quiet", "--overwrite"}),
            "convert");
  EXPECT_EQ(text_of({"a.tif", "--out-dir", "x", "--compression", "lzw", "--sparse"}),
            "convert --compression lzw --sparse");
  EXPECT_EQ(text_of({"--sparse", "--compression", "lzw", "a.tif", "--out-dir", "x"}),
            "convert --compression lzw --sparse")
      << "in any order";
  EXPECT_EQ(text_of({"a.tif", "--out-dir", "x", "--scale", "0,1,0,255", "--page", "1"}),
            "convert --scale 0,1,0,255 --page 1");
}

TEST(IsSingle, TellsTheMissingOutput) {
  EXPECT_TRUE(is_single({.inputs = {"a.tif"}, .out = "b.tif"}));
  EXPECT_TRUE(is_single({.inputs = {"-"}, .out = "-"}));
  EXPECT_FALSE(is_single({.inputs = {"a.tif", "b.tif"}, .out_folder = "x"}));
  for (ConversionFiles const& files :
       {ConversionFiles{.inputs = {"a.tif"}}, ConversionFiles{.inputs = {"a.tif", "b.tif"}, .out = "c.tif"},
        ConversionFiles{.inputs = {"a.tif", "-"}, .out_folder = "x"}}) {
    EXPECT_EQ(testing::kind_of_failure([&] { return is_single(files); }), ErrorKind::usage);
  }
  Error const pair = testing::failure_of([] { return is_single({.inputs = {"a.tif", "b.tif"}}); });
  EXPECT_NE(pair.message().find("--out b.tif"), std::string::npos) << pair.message();
}

}  // namespace
}  // namespace terrazzo::cli
