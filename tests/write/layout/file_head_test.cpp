// SPDX-License-Identifier: Apache-2.0
#include "write/layout/file_head.hpp"

#include "io/memory_source.hpp"
#include "tiff/directory.hpp"
#include "tiff/ghost_area.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <tuple>

namespace terrazzo::writing {
namespace {

class Front : public ::testing::TestWithParam<std::tuple<bool, bool, bool>> {
 protected:
  [[nodiscard]] static FileHeadFormat format() {
    auto const [bigtiff, cog, mask] = GetParam();
    return {bigtiff, cog, mask};
  }
};

TEST_P(Front, IsReadBackWithItsDirectoriesInOrder) {
  std::vector<tiff::TagSet> tags(3);
  for (std::uint32_t i = 0; i < 3; ++i) {
    tags[i].set_long(tiff::tag::ImageWidth, 100 + i);
    tags[i].set_text(tiff::tag::ImageDescription, std::string(i * 11 + 1, 'x'));  // of odd sizes, outside the entries
  }
  std::vector<std::byte> const front = encode_file_head(format(), tags);
  EXPECT_EQ(front.size(), first_directory_bytes(format()) + tiff::chain_bytes(tags, format().bigtiff));
  tiff::Chain const chain = tiff::read_chain(std::make_shared<io::MemorySource>(front, "front"));
  EXPECT_TRUE(chain.warnings.empty());
  EXPECT_EQ(chain.header.big, format().bigtiff);
  EXPECT_EQ(chain.header.first_ifd_bytes, first_directory_bytes(format()));
  ASSERT_EQ(chain.directories.size(), 3u);
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(chain.directories[i].unsigned_value(tiff::tag::ImageWidth), 100 + i);
    EXPECT_EQ(chain.directories[i].text_value(tiff::tag::ImageDescription), std::string(i * 11 + 1, 'x'));
  }
  auto const ghost = tiff::read_ghost_area(chain.directories.front().reader(), chain.header);
  ASSERT_EQ(ghost.has_value(), format().cog);
  if (ghost) {
    EXPECT_TRUE(ghost->ifds_before_data && ghost->is_well_formed());
    EXPECT_EQ(ghost->mask_interleaved, format().mask);
    EXPECT_EQ(ghost->end_bytes, chain.header.first_ifd_bytes) << "the first directory follows it at once";
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, Front, ::testing::Combine(::testing::Bool(), ::testing::Bool(), ::testing::Bool()));

TEST(RasterStart, IsRoundedUpBehindALongFrontOnly) {
  constexpr std::uint64_t kLong = std::uint64_t{1} << 20;
  EXPECT_EQ(raster_start_bytes(0), 0u);
  EXPECT_EQ(raster_start_bytes(kLong - 1), kLong - 1);
  EXPECT_EQ(raster_start_bytes(kLong), kLong);
  EXPECT_EQ(raster_start_bytes(kLong + 1), kLong + 65536);
}

}  // namespace
}  // namespace terrazzo::writing
