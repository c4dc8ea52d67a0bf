// SPDX-License-Identifier: Apache-2.0
#include "codec/libtiff/library.hpp"

#include <gtest/gtest.h>

#if TERRAZZO_HAVE_TIFFIO

#include <string_view>

namespace terrazzo::codec {
namespace {

TEST(LibtiffLibrary, IsLoadedOnceAndWhole) {
  LibtiffLibrary const* const library = LibtiffLibrary::instance();
  if (library == nullptr) { GTEST_SKIP() << "libtiff is not installed"; }
  EXPECT_EQ(LibtiffLibrary::instance(), library);
  EXPECT_TRUE(std::string_view(library->version()).starts_with("LIBTIFF"));
  EXPECT_NE(library->has_codec(COMPRESSION_CCITTFAX4), 0);
}

#if TIFFLIB_VERSION >= 20221213
TEST(LibtiffLibrary, HasHandlersForEachFileOrNone) {
  LibtiffLibrary const* const library = LibtiffLibrary::instance();
  if (library == nullptr || library->client_open_ext == nullptr) { GTEST_SKIP() << "libtiff is older than 4.5"; }
  EXPECT_NE(library->options_alloc, nullptr);
  EXPECT_NE(library->options_set_errors, nullptr);
  EXPECT_NE(library->options_set_warnings, nullptr);
}
#endif

}  // namespace
}  // namespace terrazzo::codec

#endif
