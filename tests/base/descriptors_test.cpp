// SPDX-License-Identifier: Apache-2.0
#include "base/descriptors.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <vector>

namespace terrazzo {
namespace {

TEST(Descriptors, AreCounted) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit small = before;
  small.rlim_cur = 200;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &small), 0);
  std::uint64_t const free = free_descriptors();
  std::vector<int> copies;
  for (int i = 0; i < 10; ++i) { copies.push_back(dup(0)); }
  std::uint64_t const with_ten = free_descriptors();
  for (int const one : copies) { close(one); }
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_LT(free, 200U);
  EXPECT_EQ(with_ten + 10, free);
}

}  // namespace
}  // namespace terrazzo
