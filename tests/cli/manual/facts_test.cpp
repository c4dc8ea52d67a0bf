// SPDX-License-Identifier: Apache-2.0
#include "manual/facts.hpp"

#include "manual/completion.hpp"
#include "manual/man_page.hpp"
#include "options/options.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace terrazzo::cli {
namespace {

// A program with the commands `take`, `group one` and a hidden one.
class Manual : public ::testing::Test {
 protected:
  Manual() : app_("Takes things.", "terrazzo") {
    CLI::App& take = *app_.add_subcommand("take", "Take a file's pixels");
    take.footer("A note.\n\nExamples:\n  terrazzo take a.tif   it's \\easy");
    add_file(take, text_);
    take.add_option("-o,--out", text_, "The file: [any]")->required()->type_name("PATH");
    take.add_option("--to", text_, "A folder")->type_name("FOLDER");
    take.add_flag("--fast", flag_, "Don't wait")->group("Speed");
    add_choice(
        take, "--method", {"best", "worst"}, [](std::size_t) {}, "best or worst");
    app_.add_subcommand("group", "A group")->add_subcommand("one", "The only one");
    app_.add_subcommand("secret", "")->group("");
    program_ = facts_of(app_);
  }

  CLI::App app_;
  std::string text_;
  bool flag_ = false;
  CommandFacts program_;
};

TEST_F(Manual, HasEveryCommandButHiddenOnes) {
  std::vector<std::string> names;
  for (CommandFacts const* command : all_commands(program_)) { names.push_back(command->name()); }
  EXPECT_EQ(names, (std::vector<std::string>{"terrazzo", "terrazzo take", "terrazzo group", "terrazzo group one"}));
}

TEST_F(Manual, KnowsTheValuesOfOptions) {
  std::vector<OptionFacts> const& options = program_.commands.front().options;
  auto const find = [&](std::string const& name) -> OptionFacts const& {
    for (OptionFacts const& option : options) {
      if (option.names.back() == name) { return option; }
    }
    throw std::out_of_range(name);
  };
  EXPECT_EQ(find("FILE").kind, ValueKind::path);
  EXPECT_TRUE(find("FILE").positional);
  EXPECT_EQ(find("--out").names, (std::vector<std::string>{"-o", "--out"}));
  EXPECT_EQ(find("--out").kind, ValueKind::path);
  EXPECT_TRUE(find("--out").required);
  EXPECT_EQ(find("--to").kind, ValueKind::folder);
  EXPECT_EQ(find("--fast").kind, ValueKind::none);
  EXPECT_EQ(find("--fast").group, "Speed");
  EXPECT_EQ(find("--method").kind, ValueKind::choice);
  EXPECT_EQ(find("--method").choices, (std::vector<std::string>{"best", "worst"}));
}

TEST_F(Manual, QuotesTextsForEachShell) {
  EXPECT_NE(bash_completion(program_).find("--method) kind=words words='best worst' ;;"), std::string::npos);
  EXPECT_NE(zsh_completion(program_).find("'(-o --out)'{-o,--out}'[The file\\: \\[any\\]]:PATH:_files'"),
            std::string::npos);
  EXPECT_NE(zsh_completion(program_).find("'--fast[Don'\\''t wait]'"), std::string::npos);
  EXPECT_NE(fish_completion(program_).find(" -l fast -d 'Don\\'t wait'"), std::string::npos);
  EXPECT_NE(fish_completion(program_).find(" -l method -x -a 'best worst'"), std::string::npos);
}

TEST_F(Manual, WritesPagesInRoff) {
  std::string const page = man_page(program_, program_.commands.front());
  EXPECT_EQ(man_page_name(program_.commands.front()), "terrazzo-take");
  EXPECT_NE(page.find("\\fBterrazzo take\\fR \\fIFILE\\fR \\fB\\-\\-out\\fR \\fIPATH\\fR [\\fIOPTIONS\\fR]"),
            std::string::npos)
      << page;
  EXPECT_NE(page.find(".SH EXAMPLES\n.PP\n.RS 2\n.nf\nterrazzo take a.tif   it's \\eeasy\n.fi"), std::string::npos)
      << page;
  EXPECT_NE(page.find(".SS Speed\n.TP\n\\fB\\-\\-fast\\fR\nDon't wait\n"), std::string::npos) << page;
  EXPECT_NE(page.find("\\fBterrazzo\\-group\\-one\\fR(1)"), std::string::npos) << page;
}

}  // namespace
}  // namespace terrazzo::cli
