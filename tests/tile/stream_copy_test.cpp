// SPDX-License-Identifier: Apache-2.0
#include "tile/stream_copy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace terrazzo::tile {
namespace {

TEST(CopyStreaming, CopiesEverySizeAtEveryAlignmentAndNothingElse) {
  std::vector<std::byte> from(512);
  for (std::size_t i = 0; i < from.size(); ++i) { from[i] = static_cast<std::byte>(i * 7 + 1); }
  for (std::size_t offset = 0; offset < 65; offset += 3) {
    for (std::size_t bytes = 0; bytes <= 300; ++bytes) {
      std::vector<std::byte> to(512, std::byte{0xEE});
      copy_streaming(to.data() + offset, from.data() + 5, bytes);
      fence_streamed_copies();
      ASSERT_TRUE(std::equal(to.data() + offset, to.data() + offset + bytes, from.data() + 5))
          << offset << " " << bytes;
      ASSERT_TRUE(std::all_of(to.data(), to.data() + offset, [](std::byte b) { return b == std::byte{0xEE}; }));
      ASSERT_TRUE(std::all_of(to.data() + offset + bytes, to.data() + to.size(),
                              [](std::byte b) { return b == std::byte{0xEE}; }));
    }
  }
}

}  // namespace
}  // namespace terrazzo::tile
