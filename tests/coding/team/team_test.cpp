// SPDX-License-Identifier: Apache-2.0
#include "coding/team/team.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace terrazzo::coding {
namespace {

TEST(Team, SumsTheNumbersOfTheLanesUpToEach) {
  std::uint32_t values[kTeamLanes];
  for (std::uint32_t lane = 0; lane < kTeamLanes; ++lane) { values[lane] = lane * lane % 97; }
  auto const sums = std::make_unique<LaneSums>();
  for (int time = 0; time < 2; ++time) {  // the sums of an earlier call do not count
    std::uint32_t const* const result = sums->of(LanesInTurn{}, values);
    std::uint32_t expected = 0;
    for (std::uint32_t lane = 0; lane < kTeamLanes; ++lane) {
      expected += values[lane];
      ASSERT_EQ(result[lane], expected) << lane;
    }
  }
}

}  // namespace
}  // namespace terrazzo::coding
