// SPDX-License-Identifier: Apache-2.0
#include "tile/host/split_pixels.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace terrazzo::tile {
namespace {

// Every count around the vectors' 8 and 16 pixels, from memory and into memory of exactly the size, so that the
// sanitizers see one byte too many.
TEST(SplitPixels, PutsEverySampleIntoItsPlane) {
  for (std::size_t const sample_bytes : {1u, 2u, 4u, 8u, 16u}) {
    for (std::size_t const samples : {1u, 2u, 3u, 4u, 5u, 8u, 13u}) {
      for (std::size_t const count : {0u, 1u, 7u, 8u, 9u, 15u, 16u, 17u, 31u, 32u, 33u, 100u}) {
        SCOPED_TRACE(::testing::Message() << count << " pixels of " << samples << " x " << sample_bytes << " bytes");
        std::size_t const total = count * samples * sample_bytes;
        auto const in = std::make_unique<std::byte[]>(total);
        for (std::size_t i = 0; i < total; ++i) { in[i] = static_cast<std::byte>(i * 37 + (i >> 8)); }
        std::vector<std::unique_ptr<std::byte[]>> memory;
        std::vector<std::byte*> planes;
        for (std::size_t s = 0; s < samples; ++s) {
          memory.push_back(std::make_unique<std::byte[]>(count * sample_bytes));
          planes.push_back(memory.back().get());
        }
        split_pixels(in.get(), planes, count, sample_bytes);
        for (std::size_t s = 0; s < samples; ++s) {
          for (std::size_t b = 0; b < count * sample_bytes; ++b) {
            std::size_t const pixel = b / sample_bytes, byte = b % sample_bytes;
            ASSERT_EQ(planes[s][b], in[(pixel * samples + s) * sample_bytes + byte])
                << "sample " << s << ", byte " << b;
          }
        }
      }
    }
  }
}

TEST(SplitPixels, NeedsNoAlignment) {
  for (std::size_t const samples : {3u, 4u}) {
    for (std::size_t const sample_bytes : {1u, 2u}) {
      constexpr std::size_t kCount = 40;
      std::vector<std::byte> in(kCount * samples * sample_bytes + 1);
      for (std::size_t i = 0; i < in.size(); ++i) { in[i] = static_cast<std::byte>(i); }
      std::vector<std::byte> out(kCount * samples * sample_bytes + 1);
      std::vector<std::byte*> planes;
      for (std::size_t s = 0; s < samples; ++s) { planes.push_back(out.data() + 1 + s * kCount * sample_bytes); }
      split_pixels(in.data() + 1, planes, kCount, sample_bytes);
      EXPECT_EQ(planes[samples - 1][kCount * sample_bytes - 1], in.back());
      EXPECT_EQ(planes[0][0], in[1]);
    }
  }
}

}  // namespace
}  // namespace terrazzo::tile
