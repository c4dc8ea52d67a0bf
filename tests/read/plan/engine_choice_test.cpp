// SPDX-License-Identifier: Apache-2.0
#include "read/plan/engine_choice.hpp"

#include "read/device/engine.hpp"
#include "read/images.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>

namespace terrazzo::reading {
namespace {

// Sets TERRAZZO_ENGINE and puts back what was there.
class EngineVariable {
 public:
  explicit EngineVariable(char const* value) {
    if (char const* const before = std::getenv("TERRAZZO_ENGINE")) { before_ = before; }
    if (value == nullptr) {
      unsetenv("TERRAZZO_ENGINE");
    } else {
      setenv("TERRAZZO_ENGINE", value, 1);
    }
  }
  ~EngineVariable() {
    if (before_) {
      setenv("TERRAZZO_ENGINE", before_->c_str(), 1);
    } else {
      unsetenv("TERRAZZO_ENGINE");
    }
  }
  EngineVariable(EngineVariable const&) = delete;
  EngineVariable& operator=(EngineVariable const&) = delete;

 private:
  std::optional<std::string> before_;
};

TEST(ChooseEngine, HonoursAForcedChoiceWithoutAskingTheModel) {
  EngineVariable const variable(nullptr);
  Opened const opened(image<std::uint8_t>({.width = 32, .height = 32}));
  ReadJob const job{make_plan(opened->shared_impl(), {})};
  for (Engine const engine : {Engine::host, Engine::device}) {
    EngineChoice const choice = choose_engine({&job, 1}, {.engine = engine});
    EXPECT_EQ(choice.engine, engine);
    EXPECT_FALSE(choice.reason.empty());
    EXPECT_EQ(choice.host_s, 0);
  }
  EngineVariable const forced("device");
  EXPECT_EQ(choose_engine({&job, 1}, {}).engine, Engine::device);
}

TEST(ChooseEngine, TakesTheHostWithoutAGpuAndSaysWhy) {
  DeviceState const state = device_engine_state();
  if (state.usable) { GTEST_SKIP() << "there is a GPU: " << state.name; }
  EngineVariable const variable(nullptr);
  Opened const opened(image<std::uint8_t>({.width = 32, .height = 32}));
  ReadJob const job{make_plan(opened->shared_impl(), {})};
  EngineChoice const choice = choose_engine({&job, 1}, {});
  EXPECT_EQ(choice.engine, Engine::host);
  EXPECT_EQ(choice.reason, state.reason);
}

TEST(ChooseEngine, AsksTheModelWhereThereIsAGpu) {
  if (DeviceState const state = device_engine_state(); !state.usable) { GTEST_SKIP() << "no GPU: " << state.reason; }
  EngineVariable const variable(nullptr);
  Opened const small(image<std::uint8_t>({.width = 32, .height = 32}));
  ReadJob const job{make_plan(small->shared_impl(), {})};
  EngineChoice const choice = choose_engine({&job, 1}, {});
  EXPECT_EQ(choice.engine, Engine::host) << choice.reason;
  EXPECT_GT(choice.device_s, choice.host_s);
  EXPECT_GT(choice.host_s, 0);
}

TEST(ChooseEngine, TellsWhyTheHostWasChosenWithoutTimesThatDifferFromReadToRead) {
  EXPECT_EQ(host_note({Engine::host, "libnvcomp was not found"}), "device engine: libnvcomp was not found");
  std::string const by_model = host_note({Engine::host, "expected 1 ms, 2 ms", 1e-3, 2e-3});
  EXPECT_EQ(by_model, host_note({Engine::host, "expected 3 ms, 4 ms", 3e-3, 4e-3}));
  EXPECT_NE(by_model.find("expected to finish first"), std::string::npos) << by_model;
}

constexpr DeviceMethod kDeviceMethods[] = {DeviceMethod::raw,     DeviceMethod::lzw,  DeviceMethod::packbits,
                                           DeviceMethod::deflate, DeviceMethod::zstd, DeviceMethod::jpeg,
                                           DeviceMethod::jpeg2000};

EngineLoad load_of(DeviceMethod method, std::uint64_t tiles, std::uint64_t tile_bytes, unsigned threads) {
  return {method, tiles, tiles * tile_bytes, tiles * tile_bytes, threads};
}

TEST(EngineModel, KeepsASmallWindowOnTheHost) {
  for (DeviceMethod const method :
       {DeviceMethod::raw, DeviceMethod::lzw, DeviceMethod::packbits, DeviceMethod::deflate, DeviceMethod::zstd}) {
    EngineLoad const load = load_of(method, 1, 64 * 1024, 16);
    EXPECT_LT(expected_host_s(load), expected_device_s(load)) << to_string(method);
  }
}

TEST(EngineModel, GivesALargeReadToTheDevice) {
  for (DeviceMethod const method : kDeviceMethods) {
    EngineLoad const load = load_of(method, 4096, 256 * 1024, 4);
    EXPECT_LT(expected_device_s(load), expected_host_s(load)) << to_string(method);
  }
}

TEST(EngineModel, KnowsThatOneTileCannotBeDecodedInParallel) {
  EngineLoad const one = load_of(DeviceMethod::deflate, 1, 64u << 20, 16);
  EngineLoad const many = load_of(DeviceMethod::deflate, 256, 256u << 10, 16);
  EXPECT_GT(expected_device_s(one), 10 * expected_device_s(many));
  EXPECT_GT(expected_host_s(one), 3 * expected_host_s(many)) << "one thread instead of sixteen";
}

TEST(EngineModel, GrowsWithTheWorkAndShrinksWithThreads) {
  for (DeviceMethod const method : kDeviceMethods) {
    EngineLoad const less = load_of(method, 100, 1 << 18, 8), more = load_of(method, 10000, 1 << 18, 8);
    EXPECT_LT(expected_host_s(less), expected_host_s(more));
    EXPECT_LT(expected_device_s(less), expected_device_s(more));
    EngineLoad crowd = less;
    crowd.threads = 16;
    EXPECT_LT(expected_host_s(crowd), expected_host_s(less));
  }
}

TEST(HostShare, IsOfDeflateOnlyWhereTilesAreSmallAndNeverMostOfIt) {
  for (DeviceMethod const method : kDeviceMethods) {
    for (unsigned const threads : {1u, 4u, 16u, 64u}) {
      EngineLoad const load = load_of(method, 4096, 256 << 10, threads);
      double const share = best_host_share(load, load.decoded_bytes / 2);
      EXPECT_GE(share, 0);
      EXPECT_LE(share, 0.5 + 1e-9);
      if (method != DeviceMethod::deflate) { EXPECT_EQ(share, 0) << to_string(method); }
    }
  }
}

TEST(HostShare, GrowsWithTheThreads) {
  EngineLoad few = load_of(DeviceMethod::deflate, 4096, 256 << 10, 1), many = few;
  many.threads = 32;
  EXPECT_LE(best_host_share(few, few.decoded_bytes / 2), best_host_share(many, few.decoded_bytes / 2));
  EXPECT_GT(best_host_share(many, few.decoded_bytes / 2), 0);
}

TEST(EngineModel, ScalesWithTheGpu) {
  EngineLoad const h200 = load_of(DeviceMethod::lzw, 4096, 256 * 1024, 4);
  EngineLoad slow = h200;
  slow.speed.all_tiles = 0.25;
  EXPECT_GT(expected_device_s(slow), 2 * expected_device_s(h200));
  EXPECT_EQ(expected_host_s(slow), expected_host_s(h200));
  EngineLoad narrow = h200;
  narrow.speed.link = 0.25;
  EXPECT_GT(expected_host_s(narrow), expected_host_s(h200)) << "the host's results are uploaded";
  EXPECT_EQ(expected_device_s(narrow), expected_device_s(h200));
  EngineLoad copied = load_of(DeviceMethod::raw, 4096, 256 * 1024, 4);
  double const copied_s = expected_device_s(copied);
  copied.speed = {.all_tiles = 0.25, .one_tile = 0.25, .link = 1};
  EXPECT_EQ(expected_device_s(copied), copied_s) << "the link limits copies";
}

TEST(HostShare, GrowsWhenTheGpuIsSlower) {
  EngineLoad const h200 = load_of(DeviceMethod::deflate, 4096, 256 << 10, 8);
  EngineLoad slow = h200;
  slow.speed = {.all_tiles = 0.25, .one_tile = 0.5, .link = 1};
  EXPECT_GT(best_host_share(slow, slow.decoded_bytes / 2), best_host_share(h200, h200.decoded_bytes / 2));
}

TEST(EngineModel, TakesAnEmptyLoad) {
  EngineLoad const none{DeviceMethod::lzw, 0, 0, 0, 1};
  EXPECT_GT(expected_host_s(none), 0);
  EXPECT_GT(expected_device_s(none), 0);
  EXPECT_EQ(best_host_share({DeviceMethod::deflate, 0, 0, 0, 1}, 0), 0);
}

TEST(HostShare, LargeTilesOfZstdAreSharedAndSmallOnesAreNot) {
  std::uint64_t const gib = std::uint64_t{1} << 30;
  EngineLoad const large{DeviceMethod::zstd, 1024, gib, gib, 16}, small{DeviceMethod::zstd, 4096, gib, gib, 16};
  double const share = best_host_share(large, gib / 2);
  EXPECT_GT(share, 0.05);
  EXPECT_LT(share, 0.2) << "above it the cores are the last to finish";
  EXPECT_EQ(best_host_share(small, gib / 2), 0) << "their upload hides behind their decoding";
  EXPECT_EQ(best_host_share({DeviceMethod::lzw, 1024, gib, gib, 16}, gib / 2), 0);
}

}  // namespace
}  // namespace terrazzo::reading
