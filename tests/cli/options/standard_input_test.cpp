// SPDX-License-Identifier: Apache-2.0
#include "options/standard_input.hpp"

#include "support/failure.hpp"

#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace terrazzo::cli {
namespace {

TEST(Spool, TakesAllBytesUpToTheLimit) {
  std::string const text(3'500'000, 'x');
  for (std::uint64_t const limit : {std::uint64_t{3'500'000}, std::uint64_t{1} << 40}) {
    std::istringstream in(text);
    EXPECT_EQ(spool(in, limit).size(), text.size());
  }
  for (std::uint64_t const limit : {std::uint64_t{3'499'999}, std::uint64_t{1}}) {
    std::istringstream in(text);
    EXPECT_EQ(testing::kind_of_failure([&] { return spool(in, limit); }), ErrorKind::limit);
  }
}

TEST(Spool, RefusesAnEmptyStream) {
  std::istringstream in("");
  EXPECT_EQ(testing::kind_of_failure([&] { return spool(in, 100); }), ErrorKind::io);
}

TEST(IsStandardInput, IsADash) {
  EXPECT_TRUE(is_standard_input("-"));
  EXPECT_FALSE(is_standard_input("-.tif"));
}

}  // namespace
}  // namespace terrazzo::cli
