// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/version.hpp"

#include <gtest/gtest.h>

#include <string>

namespace terrazzo {
namespace {

TEST(Version, IsTheThreeNumbersOfTheHeader) {
  std::string const expected = std::to_string(TERRAZZO_VERSION_MAJOR) + "." + std::to_string(TERRAZZO_VERSION_MINOR) +
                               "." + std::to_string(TERRAZZO_VERSION_PATCH);
  EXPECT_EQ(version(), expected);
}

// CMake reads the header by itself; both must come to the same text, or packages lie about what they hold.
TEST(Version, IsTheOneThatCMakeReadFromTheHeader) { EXPECT_EQ(version(), TERRAZZO_CMAKE_VERSION); }

}  // namespace
}  // namespace terrazzo
