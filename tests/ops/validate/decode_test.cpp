// SPDX-License-Identifier: Apache-2.0
#include "ops/validate/decode.hpp"

#include "ops/validate_layouts.hpp"
#include "support/data_folder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

namespace terrazzo::ops {
namespace {

using testing::Rules;
using testing::rules_of;

std::vector<char> file_bytes(std::string const& name) {
  std::ifstream in(testing::data_folder() / name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(ValidateDecode, PassesWholeFiles) {
  EXPECT_EQ(rules_of(testing::CogLayout().validate({.decode = true})), Rules{});
  Validation const result = validate((testing::data_folder() / "cog_mask_overviews.tif").string(), {.decode = true});
  EXPECT_TRUE(result.valid_tiff && result.valid_cog) << ::testing::PrintToString(rules_of(result));
}

TEST(ValidateDecode, FindsTilesThatOnlyLookWhole) {
  std::vector<char> bytes = file_bytes("cog_mask_overviews.tif");
  ASSERT_FALSE(bytes.empty());
  PlannedTile const tile = plan(open_memory(std::as_bytes(std::span(bytes)))).tile(0);
  ASSERT_GT(tile.size_bytes, 40U);
  // What surrounds a tile stays right.
  auto const first = bytes.begin() + static_cast<std::ptrdiff_t>(tile.offset_bytes);
  std::fill(first, first + static_cast<std::ptrdiff_t>(tile.size_bytes - 8), '\0');
  EXPECT_EQ(rules_of(validate_memory(std::as_bytes(std::span(bytes)))), Rules{});
  Validation const decoded = validate_memory(std::as_bytes(std::span(bytes)), "a", {.decode = true});
  EXPECT_EQ(rules_of(decoded), Rules{"tile-undecodable"});
  EXPECT_FALSE(decoded.valid_tiff);
  EXPECT_EQ(decoded.findings[0].tile, tile.id);
  EXPECT_EQ(decoded.findings[0].ifd, 0U);
}

TEST(ValidateDecode, SaysWhenThisBuildCannotDecode) {
  testing::CogLayout layout;
  std::vector<std::byte> bytes = layout.bytes();
  // The directory's Photometric tag becomes a Compression that nobody has.
  std::size_t const entry = (8 + layout.ghost.size() + layout.ghost.size() % 2) + 2 + 4 * 12;
  ASSERT_EQ(bytes[entry], std::byte{262 & 0xFF});
  bytes[entry] = static_cast<std::byte>(259 & 0xFF);
  bytes[entry + 8] = static_cast<std::byte>(34934 & 0xFF);
  bytes[entry + 9] = static_cast<std::byte>(34934 >> 8);
  EXPECT_EQ(rules_of(validate_memory(bytes)), Rules{});
  EXPECT_EQ(rules_of(validate_memory(bytes, "a", {.decode = true})), Rules{"codec-unavailable"});
}

}  // namespace
}  // namespace terrazzo::ops
