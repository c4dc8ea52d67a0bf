// SPDX-License-Identifier: Apache-2.0
#include "codec/jxl/library.hpp"

#if TERRAZZO_HAVE_JXL

#include "codec/registry/codec.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

namespace terrazzo::codec {
namespace {

TEST(JxlLibrary, IsLoadedOnceAndWhole) {
  JxlLibrary const* const library = JxlLibrary::instance();
  if (library == nullptr) { GTEST_SKIP() << "libjxl is not installed"; }
  EXPECT_EQ(JxlLibrary::instance(), library);
#define TERRAZZO_JXL_EXPECT(function) EXPECT_NE(library->function, nullptr) << #function;
  TERRAZZO_JXL_FUNCTIONS(TERRAZZO_JXL_EXPECT)
#undef TERRAZZO_JXL_EXPECT
}

TEST(JxlLibrary, TellsTheTableWhetherItIsThere) {
  Codec const* const codec = find_codec(tiff::Compression::jxl);
  ASSERT_NE(codec->decode, nullptr);
  ASSERT_NE(codec->is_loaded, nullptr);
  EXPECT_EQ(codec->is_available(), JxlLibrary::instance() != nullptr);
}

void print_availability_when_disabled(char const* list) {
  setenv("TERRAZZO_DISABLE", list, 1);
  std::fprintf(stderr, "available=%d", find_codec(tiff::Compression::jxl)->is_available() ? 1 : 0);
  std::exit(0);
}

TEST(JxlLibraryDeathTest, IsAbsentWhereItIsDisabled) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a process of its own: the library is looked for once
  EXPECT_EXIT(print_availability_when_disabled("libjxl"), ::testing::ExitedWithCode(0), "available=0");
  if (JxlLibrary::instance() == nullptr) { GTEST_SKIP() << "libjxl is not installed"; }
  EXPECT_EXIT(print_availability_when_disabled("gpu"), ::testing::ExitedWithCode(0), "available=1");
}

}  // namespace
}  // namespace terrazzo::codec

#endif
