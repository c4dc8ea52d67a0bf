// SPDX-License-Identifier: Apache-2.0
#include "base/settings.hpp"

#include "terrazzo/error.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

namespace terrazzo {
namespace {

TEST(ParseSize, TakesBytesAndUnitsOf1024) {
  EXPECT_EQ(parse_size("0"), 0u);
  EXPECT_EQ(parse_size("65536"), 65536u);
  EXPECT_EQ(parse_size("1.5g"), std::uint64_t{3} << 29);
  EXPECT_EQ(parse_size("1T"), std::uint64_t{1} << 40);
  for (char const* text : {"", "M", "-1", "12X", "1e30", "nan", "5 M", "5MM"}) {
    EXPECT_EQ(parse_size(text), std::nullopt) << text;
  }
}

// The environment is read once per process, so each value gets its own process, which prints its settings.
class SettingsFromEnvironment : public ::testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  [[noreturn]] static void print_settings(char const* name, char const* value) {
    setenv(name, value, 1);
    try {
      Settings const s = settings();
      std::fprintf(stderr, "threads=%u memory=%llu cache=%lld;", s.threads,
                   static_cast<unsigned long long>(s.memory_limit_bytes),
                   s.tile_cache_bytes ? static_cast<long long>(*s.tile_cache_bytes) : -1LL);
      std::exit(0);
    } catch (Error const& error) {
      std::fprintf(stderr, "%s", error.what());
      std::exit(error.kind() == ErrorKind::usage ? 1 : 2);
    }
  }
};

using SettingsFromEnvironmentDeathTest = SettingsFromEnvironment;

TEST_F(SettingsFromEnvironmentDeathTest, TakeSizesInBytesAndUnits) {
  struct {
    char const *value, *seen;
  } const cases[] = {
      {"512", "memory=512 "}, {"512K", "memory=524288 "}, {"3m", "memory=3145728 "},   {"4G", "memory=4294967296 "},
      {"", "memory=0 "},      {"0", "memory=0 "},         {"1.5M", "memory=1572864 "}, {"2T", "memory=2199023255552 "}};
  for (auto const& c : cases) {
    EXPECT_EXIT(print_settings("TERRAZZO_MEMORY_LIMIT", c.value), ::testing::ExitedWithCode(0), c.seen) << c.value;
  }
}

TEST_F(SettingsFromEnvironmentDeathTest, RefuseWhatIsNoSizeAndNameIt) {
  for (char const* const value :
       {"512MB", "x", "-1", " 5", "5 ", "0x10", "17179869184G", "99999999999999999999", "G", "1P", "nan", "inf"}) {
    EXPECT_EXIT(print_settings("TERRAZZO_MEMORY_LIMIT", value), ::testing::ExitedWithCode(1),
                "TERRAZZO_MEMORY_LIMIT=.*is not a size")
        << value;
  }
}

TEST_F(SettingsFromEnvironmentDeathTest, RefuseThreadsAndCacheOfNonsense) {
  for (char const* const value : {"many", "-1", "2.5", "4K", "4 ", "99999999999"}) {
    EXPECT_EXIT(print_settings("TERRAZZO_THREADS", value), ::testing::ExitedWithCode(1), "TERRAZZO_THREADS=") << value;
  }
  EXPECT_EXIT(print_settings("TERRAZZO_TILE_CACHE", "-5"), ::testing::ExitedWithCode(1), "TERRAZZO_TILE_CACHE=-5");
}

TEST_F(SettingsFromEnvironmentDeathTest, BoundTheThreads) {
  EXPECT_EXIT(print_settings("TERRAZZO_THREADS", "7"), ::testing::ExitedWithCode(0), "threads=7 ");
  EXPECT_EXIT(print_settings("TERRAZZO_THREADS", "1000000"), ::testing::ExitedWithCode(0), "threads=1024 ");
}

TEST_F(SettingsFromEnvironmentDeathTest, TellACacheOfNothingFromNoWord) {
  EXPECT_EXIT(print_settings("TERRAZZO_TILE_CACHE", "0"), ::testing::ExitedWithCode(0), "cache=0;");
  EXPECT_EXIT(print_settings("TERRAZZO_TILE_CACHE", ""), ::testing::ExitedWithCode(0), "cache=-1;");
  EXPECT_EXIT(print_settings("TERRAZZO_TILE_CACHE", "2M"), ::testing::ExitedWithCode(0), "cache=2097152;");
}

// Restores the settings: other tests of this binary share the process's settings.
class SettingsInForce : public ::testing::Test {
 protected:
  void TearDown() override {
    set_settings(before_);
    set_log({});
  }
  Settings const before_ = settings();
};

TEST_F(SettingsInForce, OfTheCallWinOverTheProcess) {
  set_settings({.threads = 3, .memory_limit_bytes = 1000, .tile_cache_bytes = 77});
  EXPECT_EQ(resolve_threads(0), 3u);
  EXPECT_EQ(resolve_threads(5), 5u);
  EXPECT_EQ(resolve_memory_limit(0), 1000u);
  EXPECT_EQ(resolve_memory_limit(9), 9u);
  EXPECT_EQ(resolve_tile_cache(), 77u);
}

TEST_F(SettingsInForce, FollowTheMachineWhereNothingIsSaid) {
  set_settings({});
  EXPECT_GE(resolve_threads(0), 1u);
  EXPECT_LE(resolve_threads(0), 1024u);
  EXPECT_GT(resolve_memory_limit(0), 0u);
  EXPECT_GT(resolve_tile_cache(), 0u);
  EXPECT_LT(resolve_tile_cache(), resolve_memory_limit(0)) << "5 % against a half";
}

TEST_F(SettingsInForce, BoundThreadsThatACallAsksFor) { EXPECT_EQ(resolve_threads(4'000'000'000u), 1024u); }

TEST_F(SettingsInForce, KeepACacheOfNothing) {
  set_settings({.tile_cache_bytes = 0});
  EXPECT_EQ(resolve_tile_cache(), 0u);
}

TEST_F(SettingsInForce, AreGivenBackAsTheyWereSet) {
  set_settings({.threads = 11, .memory_limit_bytes = 12, .tile_cache_bytes = 13});
  Settings const s = settings();
  EXPECT_EQ(s.threads, 11u);
  EXPECT_EQ(s.memory_limit_bytes, 12u);
  EXPECT_EQ(s.tile_cache_bytes, 13u);
}

TEST_F(SettingsInForce, LogTellsEachMessageOnce) {
  std::vector<std::string> told;
  set_log([&](std::string_view message) { told.emplace_back(message); });
  log_once("settings_test: a");
  log_once("settings_test: b");
  log_once("settings_test: a");
  EXPECT_EQ(told, (std::vector<std::string>{"settings_test: a", "settings_test: b"}));
}

TEST_F(SettingsInForce, LogWithoutAListenerDropsNothingForALaterOne) {
  log_once("settings_test: early");
  std::vector<std::string> told;
  set_log([&](std::string_view message) { told.emplace_back(message); });
  log_once("settings_test: early");
  EXPECT_EQ(told.size(), 1u);
}

TEST_F(SettingsInForce, LogMayLogAgainFromItsListener) {
  std::vector<std::string> told;
  set_log([&](std::string_view message) {
    told.emplace_back(message);
    log_once("settings_test: nested");
  });
  log_once("settings_test: outer");
  EXPECT_EQ(told, (std::vector<std::string>{"settings_test: outer", "settings_test: nested"}));
}

// TERRAZZO_ENGINE is read at every call; the test restores its value.
class RequestedEngine : public ::testing::Test {
 protected:
  ~RequestedEngine() override { set_engine(before_ ? before_->c_str() : nullptr); }
  static void set_engine(char const* value) {
    if (value == nullptr) {
      unsetenv("TERRAZZO_ENGINE");
    } else {
      setenv("TERRAZZO_ENGINE", value, 1);
    }
  }

 private:
  std::optional<std::string> before_ = std::getenv("TERRAZZO_ENGINE") != nullptr
                                           ? std::optional<std::string>(std::getenv("TERRAZZO_ENGINE"))
                                           : std::nullopt;
};

TEST_F(RequestedEngine, IsTheRequestsThenTheEnvironments) {
  struct {
    char const* value;
    Engine seen;
  } const cases[] = {{nullptr, Engine::automatic},
                     {"", Engine::automatic},
                     {"auto", Engine::automatic},
                     {"host", Engine::host},
                     {"device", Engine::device}};
  for (auto const& c : cases) {
    set_engine(c.value);
    EXPECT_EQ(resolve_engine(Engine::automatic), c.seen) << (c.value == nullptr ? "unset" : c.value);
    for (Engine const engine : {Engine::host, Engine::device}) {
      EXPECT_EQ(resolve_engine(engine), engine) << "the request comes first";
    }
  }
}

TEST_F(RequestedEngine, RefusesWordsItDoesNotKnow) {
  set_engine("gpu");
  try {
    (void)resolve_engine(Engine::automatic);
    FAIL() << "taken";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(error.message().find("TERRAZZO_ENGINE=gpu"), std::string::npos) << error.message();
  }
  EXPECT_EQ(resolve_engine(Engine::host), Engine::host) << "nobody asked the environment";
}

TEST(Disabled, TakesWholeWordsOfACommaList) {
  EXPECT_TRUE(is_listed("nvcomp", "nvcomp"));
  EXPECT_TRUE(is_listed("kvikio, nvjpeg2k ,gpu", "nvjpeg2k"));
  EXPECT_FALSE(is_listed("nvjpeg2k", "nvjpeg"));
  EXPECT_FALSE(is_listed("nvjpeg", "nvjpeg2k"));
  EXPECT_FALSE(is_listed("", "gpu"));
  EXPECT_FALSE(is_listed(",,", "gpu"));
}

TEST(Machine, CountsTheCoresOfTheAffinityMask) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(machine().cores, static_cast<unsigned>(CPU_COUNT(&before)));
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int core = 0; core < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++core) {
    if (CPU_ISSET(core, &before)) { CPU_SET(core, &one); }
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(machine().cores, 1U);
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

TEST(Machine, MemoryIsNoMoreThanThereIs) {
  auto const physical =
      static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE));
  EXPECT_GT(machine().memory_bytes, 0U);
  EXPECT_LE(machine().memory_bytes, physical);
}

}  // namespace
}  // namespace terrazzo
