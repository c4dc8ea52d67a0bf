// SPDX-License-Identifier: Apache-2.0
//
// A build without CUDA: everything compiles and links, and says what is missing.
#include "read/device/engine.hpp"

#include "read/images.hpp"

#include <gtest/gtest.h>

namespace terrazzo::reading {
namespace {

TEST(AbsentEngine, SaysThatItIsNotBuilt) {
  DeviceState const state = device_engine_state();
  EXPECT_FALSE(state.built);
  EXPECT_FALSE(state.usable);
  EXPECT_NE(state.reason.find("CUDA"), std::string::npos) << state.reason;
  EXPECT_TRUE(state.libraries.empty());
  EXPECT_EQ(device_state().reason, state.reason);
}

TEST(AbsentEngine, CanDoNothing) {
  DeviceAbilities const abilities = device_facts().abilities;
  EXPECT_FALSE(abilities.nvcomp || abilities.nvjpeg || abilities.nvjpeg2k);
}

TEST(AbsentEngine, RefusesAsUnsupported) {
  std::byte memory[4]{};
  ReadReport report;
  auto const kind = [](auto const& f) { return failure_of(f).kind(); };
  EXPECT_EQ(kind([&] { DeviceEngine({}, {}, nullptr).execute({}, report); }), ErrorKind::unsupported);
  EXPECT_EQ(kind([&] { (void)allocate_result(4, {}); }), ErrorKind::unsupported);
  EXPECT_EQ(kind([&] { (void)current_device(); }), ErrorKind::unsupported);
  EXPECT_EQ(kind([&] { copy_to_host(memory, memory, 1, nullptr); }), ErrorKind::unsupported);
  EXPECT_NO_THROW(release_engine_memory());
  EXPECT_NO_THROW(reset_engine_memory_peak());
  EXPECT_EQ(engine_memory_use().used_bytes, 0u);
}

}  // namespace
}  // namespace terrazzo::reading
