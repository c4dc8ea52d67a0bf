// SPDX-License-Identifier: Apache-2.0
#include "write/ghost_edit.hpp"

#include "support/tiff_builder.hpp"

#include "write/assembly.hpp"

#include <gtest/gtest.h>

#include <string>

namespace terrazzo::writing {
namespace {

using testing::TiffBuilder;

// A file with `text` right behind its header, and one directory.
tiff::Directory directory_behind(std::string const& text, bool big = false) {
  TiffBuilder builder(std::endian::little, big);
  auto const bytes = std::as_bytes(std::span(text));
  static_cast<void>(builder.data({bytes.begin(), bytes.end()}));
  return builder.longs(256, {1}).directory();
}

class BreakGhost : public ::testing::TestWithParam<std::tuple<bool, bool>> {};

TEST_P(BreakGhost, TakesThePromiseBackInPlace) {
  auto const [mask, big] = GetParam();
  std::string const ghost = ghost_text(mask);
  auto const edit = break_ghost(directory_behind(ghost, big));
  ASSERT_TRUE(edit);
  std::string changed = ghost;
  changed.replace(edit->offset_bytes - (big ? 16 : 8), edit->bytes.size(),
                  reinterpret_cast<char const*>(edit->bytes.data()), edit->bytes.size());
  EXPECT_EQ(changed.size(), ghost.size());
  EXPECT_NE(changed.find("\nKNOWN_INCOMPATIBLE_EDITION=YES\n"), std::string::npos);
  EXPECT_EQ(changed.find("=NO\n"), std::string::npos);
  EXPECT_FALSE(break_ghost(directory_behind(changed, big)));
}

INSTANTIATE_TEST_SUITE_P(MaskAndBig, BreakGhost, ::testing::Combine(::testing::Bool(), ::testing::Bool()));

TEST(BreakGhostOf, LeavesOtherFilesAlone) {
  EXPECT_FALSE(break_ghost(directory_behind("KNOWN_INCOMPATIBLE_EDITION=NO\n pixels that look like it")));
  EXPECT_FALSE(break_ghost(directory_behind("")));
}

}  // namespace
}  // namespace terrazzo::writing
