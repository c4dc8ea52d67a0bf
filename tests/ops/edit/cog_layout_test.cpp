// SPDX-License-Identifier: Apache-2.0
#include "ops/edit/cog_layout.hpp"

#include "support/file_bytes.hpp"
#include "support/temp_folder.hpp"
#include "support/without_ghost.hpp"

#include "terrazzo/write.hpp"

#include <gtest/gtest.h>

namespace terrazzo::ops {
namespace {

class CogLayoutTest : public ::testing::Test {
 protected:
  [[nodiscard]] CogLayout layout(std::uint32_t side, bool cog, std::vector<std::uint32_t> const& factors,
                                 bool ghost = true) const {
    WriteOptions options;
    options.tile_size = {32, 32};
    options.cog = cog;
    options.overview_factors = factors;
    std::vector<std::uint8_t> pixels(std::size_t{side} * side);
    std::string const path = folder_.path("a.tif");
    static_cast<void>(
        write(path, HostView{pixels.data(), DType::u8, 1, side, side, std::int64_t{side} * side, side, 1}, options));
    if (!ghost) { static_cast<void>(folder_.write("a.tif", testing::without_ghost(testing::file_bytes(path)))); }
    return cog_layout(path);
  }
  testing::TempFolder folder_;
};

TEST_F(CogLayoutTest, KnowsCogsWithAndWithoutAGhostArea) {
  for (bool const ghost : {true, false}) {
    CogLayout const found = layout(150, true, {2, 4}, ghost);
    EXPECT_TRUE(found.valid);
    EXPECT_TRUE(found.has_overviews);
  }
}

TEST_F(CogLayoutTest, KnowsPlainFiles) {
  EXPECT_FALSE(layout(150, false, {2, 4}).valid) << "tiles of the raster come before those of overviews";
  for (std::uint32_t const side : {150U, 600U}) {  // validate() warns of a large raster without overviews
    CogLayout const found = layout(side, false, {});
    EXPECT_TRUE(found.valid) << "by chance";
    EXPECT_FALSE(found.has_overviews);
  }
}

}  // namespace
}  // namespace terrazzo::ops
