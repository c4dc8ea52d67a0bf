// SPDX-License-Identifier: Apache-2.0
#include "codec/workspace.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace terrazzo::codec {
namespace {

TEST(Workspace, ScratchGrowsAndIsKept) {
  Scratch scratch;
  auto const small = scratch.take(10);
  EXPECT_EQ(small.size(), 10u);
  auto const large = scratch.take(10'000);
  large.front() = large.back() = std::byte{1};
  EXPECT_EQ(scratch.take(5'000).data(), large.data());
  EXPECT_EQ(scratch.take(0).size(), 0u);
}

TEST(Workspace, MovesWithItsHandles) {
  Workspace first;
  Workspace::Impl* const impl = &first.impl();
  Workspace second = std::move(first);
  EXPECT_EQ(&second.impl(), impl);
}

#if TERRAZZO_HAVE_ZSTD
TEST(Workspace, MakesAHandleOnceAndKeepsIt) {
  Workspace workspace;
  ZSTD_DCtx* const context = workspace.impl().zstd();
  EXPECT_NE(context, nullptr);
  EXPECT_EQ(workspace.impl().zstd(), context);
}
#endif

}  // namespace
}  // namespace terrazzo::codec
