// SPDX-License-Identifier: Apache-2.0
#include "output/outcome_table.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace terrazzo::cli {
namespace {

std::string printed(std::vector<OutcomeRow> const& rows) {
  std::ostringstream out;
  print_outcome_table(out, rows);
  return out.str();
}

TEST(OutcomeTable, CountsFilesByState) {
  EXPECT_EQ(printed({{"done", 1200, 2048, "in 3 s"}, {"skipped", 0, 0, "old"}, {"failed", 2, 0, ""}}),
            "\nstate   files  written\ndone    1,200  2.00 KiB  in 3 s\nfailed  2\n");
}

TEST(OutcomeTable, HasNoColumnOfBytesIfNoneWereWritten) {
  EXPECT_EQ(printed({{"done", 3, 0, "in 3 s"}}).find("written"), std::string::npos);
}

}  // namespace
}  // namespace terrazzo::cli
