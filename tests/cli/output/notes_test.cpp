// SPDX-License-Identifier: Apache-2.0
#include "output/notes.hpp"

#include <gtest/gtest.h>

namespace terrazzo::cli {
namespace {

TEST(Notes, ArePrintedOnlyWhereTheyAreWanted) {
  ::testing::internal::CaptureStderr();
  note("one");
  show_notes(true);
  note("two");
  show_notes(false);
  note("three");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "terrazzo: note: two\n");
}

}  // namespace
}  // namespace terrazzo::cli
