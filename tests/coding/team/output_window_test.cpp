// SPDX-License-Identifier: Apache-2.0
#include "coding/team/output_window.hpp"

#include "coding/team/team.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace terrazzo::coding {
namespace {

// The longest chain that a window holds.
TEST(OutputWindow, FollowsLinksToTheFirstByte) {
  auto const window = std::make_unique<OutputWindow>();
  window->put_byte(0, 0xC7);
  for (std::uint32_t i = 1; i < OutputWindow::kBytes; ++i) { window->put_link(i, i - 1); }
  std::vector<std::byte> out(OutputWindow::kBytes + 1, std::byte{1});
  window->write(LanesInTurn{}, OutputWindow::kBytes, out.data());
  EXPECT_EQ(out, [] {
    std::vector<std::byte> expected(OutputWindow::kBytes, std::byte{0xC7});
    expected.push_back(std::byte{1});
    return expected;
  }());
}

TEST(OutputWindow, WritesAsManyBytesAsAsked) {
  auto const window = std::make_unique<OutputWindow>();
  for (std::uint32_t i = 0; i < 300; ++i) {
    if (i % 3 == 2) {
      window->put_link(i, i / 2);
    } else {
      window->put_byte(i, i & 0xFF);
    }
  }
  std::vector<std::byte> out(300, std::byte{0xEE});
  window->write(LanesInTurn{}, 299, out.data());
  for (std::uint32_t i = 0; i < 299; ++i) {
    std::uint32_t source = i;
    while (source % 3 == 2) { source /= 2; }
    ASSERT_EQ(out[i], static_cast<std::byte>(source & 0xFF)) << i;
  }
  EXPECT_EQ(out[299], std::byte{0xEE});
}

}  // namespace
}  // namespace terrazzo::coding
