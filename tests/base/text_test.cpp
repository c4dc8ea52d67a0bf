// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>

namespace terrazzo {
namespace {

TEST(Text, JoinsPartsOfAnyType) {
  EXPECT_EQ(text("tile ", 3, " of ", std::uint64_t{10'000'000}, std::string_view(", "), 1.5),
            "tile 3 of 10000000, 1.5");
}

}  // namespace
}  // namespace terrazzo
