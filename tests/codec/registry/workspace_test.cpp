// SPDX-License-Identifier: Apache-2.0
#include "codec/registry/workspace.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace terrazzo::codec {
namespace {

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

#if TERRAZZO_HAVE_LIBDEFLATE
TEST(Workspace, KeepsACompressorForEachLevel) {
  Workspace workspace;
  libdeflate_compressor* const fast = workspace.impl().libdeflate_encoder(1);
  libdeflate_compressor* const small = workspace.impl().libdeflate_encoder(12);
  ASSERT_NE(fast, nullptr);
  ASSERT_NE(small, nullptr);
  EXPECT_NE(fast, small);
  EXPECT_EQ(workspace.impl().libdeflate_encoder(1), fast);
}
#endif

TEST(Workspace, KeepsItsLzwTables) {
  Workspace workspace;
  EXPECT_EQ(&workspace.impl().lzw_encoder(), &workspace.impl().lzw_encoder());
}

}  // namespace
}  // namespace terrazzo::codec
