// SPDX-License-Identifier: Apache-2.0
#include "machine.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

namespace terrazzo::cli {
namespace {

TEST(Machine, CountsTheCoresOfTheAffinityMask) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(machine_cores(), static_cast<unsigned>(CPU_COUNT(&before)));
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int core = 0; core < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++core) {
    if (CPU_ISSET(core, &before)) { CPU_SET(core, &one); }
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(machine_cores(), 1U);
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

TEST(Machine, MemoryIsNoMoreThanThereIs) {
  auto const physical =
      static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE));
  EXPECT_GT(machine_memory_bytes(), 0U);
  EXPECT_LE(machine_memory_bytes(), physical);
}

}  // namespace
}  // namespace terrazzo::cli
