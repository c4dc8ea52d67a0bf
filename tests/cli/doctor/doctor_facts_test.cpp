// SPDX-License-Identifier: Apache-2.0
#include "doctor/doctor_facts.hpp"

#include "terrazzo/settings.hpp"

#include <gtest/gtest.h>

#include <array>

namespace terrazzo::cli {
namespace {

TEST(SettingsAmong, PicksOursSortedAndMarksTheUnknown) {
  std::array<char const*, 6> const environment{
      "TERRAZZO_THREADS=4", "HOME=/home/me", "CUDA_VISIBLE_DEVICES=", "TERRAZZO_THREAD=9", "MY_TERRAZZO_X=1", nullptr};
  auto const settings = settings_among(environment.data());
  ASSERT_EQ(settings.size(), 3U);
  EXPECT_EQ(settings[0].name, "CUDA_VISIBLE_DEVICES");
  EXPECT_EQ(settings[0].value, "");
  EXPECT_EQ(settings[1].name, "TERRAZZO_THREAD");
  EXPECT_TRUE(settings[1].meaning.empty());
  EXPECT_EQ(settings[2].value, "4");
  EXPECT_FALSE(settings[2].meaning.empty());
}

TEST(GatherFacts, AgreesWithTheLibrary) {
  DoctorFacts const facts = gather_facts();
  EXPECT_EQ(facts.codecs.size(), codecs().size());
  EXPECT_EQ(facts.device.built, device_state().built);
  EXPECT_GE(facts.cores, 1U);
  EXPECT_LE(facts.memory_limit_bytes, facts.memory_bytes);
}

TEST(GatherFacts, SettingsOfTheProcessWin) {
  Settings const before = settings();
  Settings changed = before;
  changed.threads = 3;
  changed.memory_limit_bytes = 1 << 20;
  changed.tile_cache_bytes = 0;
  changed.device_budget_bytes = 1 << 21;
  set_settings(changed);
  DoctorFacts const facts = gather_facts();
  set_settings(before);
  EXPECT_EQ(facts.threads, 3U);
  EXPECT_EQ(facts.memory_limit_bytes, 1U << 20);
  EXPECT_EQ(facts.tile_cache_bytes, 0U);
  EXPECT_EQ(facts.device_budget_bytes, 1U << 21);
}

}  // namespace
}  // namespace terrazzo::cli
