// SPDX-License-Identifier: Apache-2.0
#include "tile/host/stream_copy.hpp"

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

TEST(CopyRowsStreaming, CopiesRowsThatLieApartAndNothingBetweenThem) {
  constexpr std::size_t kRows = 11, kFromStride = 300;
  std::vector<std::byte> from(kRows * kFromStride);
  for (std::size_t i = 0; i < from.size(); ++i) { from[i] = static_cast<std::byte>(i * 13 + i / 256); }
  for (std::size_t const bytes : {0u, 1u, 63u, 64u, 65u, 200u, 300u}) {
    for (std::size_t offset = 0; offset < 65; offset += 7) {
      for (std::ptrdiff_t const stride : {300, 320, 333, -300, -341}) {
        std::vector<std::byte> to(kRows * 400 + 64, std::byte{0xEE}), wanted = to;
        std::ptrdiff_t const first =
            static_cast<std::ptrdiff_t>(offset) + (stride < 0 ? static_cast<std::ptrdiff_t>(kRows - 1) * -stride : 0);
        for (std::size_t r = 0; r < kRows; ++r) {
          std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(r * kFromStride), bytes,
                      wanted.begin() + first + static_cast<std::ptrdiff_t>(r) * stride);
        }
        copy_rows_streaming(to.data() + first, stride,
                            {.first = from.data(), .stride_bytes = kFromStride, .row_bytes = bytes, .rows = kRows});
        fence_streamed_copies();
        ASSERT_EQ(to, wanted) << bytes << " " << offset << " " << stride;
      }
    }
  }
}

TEST(CopyRowsStreaming, PutsRowsOfBlocksSideBySideAndNothingBeyondThem) {
  constexpr std::size_t kRows = 9, kFromStride = 210, kBlockStride = kRows * kFromStride + 3;
  for (std::size_t const blocks : {2u, 3u, 5u}) {
    std::vector<std::byte> from(blocks * kBlockStride);
    for (std::size_t i = 0; i < from.size(); ++i) { from[i] = static_cast<std::byte>(i * 13 + i / 256); }
    for (std::size_t const bytes : {0u, 1u, 16u, 17u, 40u, 48u, 63u, 64u, 65u, 100u, 127u, 128u, 130u, 192u, 210u}) {
      for (std::size_t offset = 0; offset < 65; ++offset) {
        std::size_t const stride = blocks * bytes + 17;
        std::vector<std::byte> to(kRows * stride + 128, std::byte{0xEE}), wanted = to;
        for (std::size_t r = 0; r < kRows; ++r) {
          for (std::size_t b = 0; b < blocks; ++b) {
            std::copy_n(from.data() + b * kBlockStride + r * kFromStride, bytes,
                        wanted.data() + offset + r * stride + b * bytes);
          }
        }
        copy_rows_streaming(to.data() + offset, static_cast<std::ptrdiff_t>(stride),
                            {.first = from.data(),
                             .stride_bytes = kFromStride,
                             .row_bytes = bytes,
                             .rows = kRows,
                             .blocks = blocks,
                             .block_stride_bytes = kBlockStride});
        fence_streamed_copies();
        ASSERT_EQ(to, wanted) << blocks << " blocks, " << bytes << " bytes at " << offset;
      }
    }
  }
}

}  // namespace
}  // namespace terrazzo::tile
