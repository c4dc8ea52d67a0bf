// SPDX-License-Identifier: Apache-2.0
#include "ops/validate/rules.hpp"

#include <gtest/gtest.h>

#include <set>

namespace terrazzo::ops {
namespace {

TEST(ValidationRules, HaveNamesOfTheirOwnAndMeanings) {
  std::set<std::string_view> names;
  for (ValidationRule const& rule : validation_rules()) {
    EXPECT_TRUE(names.insert(rule.name).second) << rule.name;
    EXPECT_FALSE(rule.meaning.empty()) << rule.name;
  }
  EXPECT_EQ(names.size(), kRuleCount);
}

TEST(Findings, KeepsSoManyOfARuleAndCountsTheRest) {
  Findings findings(2);
  int messages = 0;
  for (int i = 0; i < 5; ++i) {
    findings.add(Rule::tile_leader, {}, [&] { return std::to_string(messages++); });
  }
  findings.add_unread(Rule::tile_leader, 10);
  findings.add(Rule::ghost_area, {}, [] { return std::string("one"); });
  Validation result;
  findings.move_to(result);
  EXPECT_EQ(messages, 2);  // the others were not even written
  ASSERT_EQ(result.findings.size(), 3U);
  EXPECT_EQ(result.findings[0].rule, "ghost-area");  // by rule, not by time
  EXPECT_EQ(result.findings[2].message, "1");
  EXPECT_EQ(result.findings_left_out, 13U);
}

TEST(Findings, KnowsWhetherAnyIsAnError) {
  Findings findings(0);
  findings.add(Rule::slack, {}, [] { return std::string(); });
  findings.add(Rule::strips, {}, [] { return std::string(); });
  findings.add_unread(Rule::tile_overlap, 0);
  EXPECT_FALSE(findings.has_error());
  findings.add_unread(Rule::tile_overlap, 1);
  EXPECT_TRUE(findings.has_error());
}

}  // namespace
}  // namespace terrazzo::ops
