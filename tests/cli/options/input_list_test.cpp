// SPDX-License-Identifier: Apache-2.0
#include "options/input_list.hpp"

#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

namespace terrazzo::cli {
namespace {

std::vector<std::string> names_in(std::string const& text) {
  std::istringstream in(text);
  return read_names(in, "list.txt");
}

TEST(InputList, HasANamePerLine) {
  EXPECT_EQ(names_in("a.tif\n\nb c.tif\r\n#d.tif"), (std::vector<std::string>{"a.tif", "b c.tif", "#d.tif"}));
  EXPECT_TRUE(names_in("\n\n").empty());
}

TEST(InputList, RefusesOtherFiles) {
  EXPECT_THROW((void)names_in(std::string("II*\0\n", 5)), Error);
  EXPECT_THROW((void)names_in(std::string(70000, 'x')), Error);
  EXPECT_THROW((void)read_names("/no/such/list.txt"), Error);
}

}  // namespace
}  // namespace terrazzo::cli
