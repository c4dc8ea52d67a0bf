// SPDX-License-Identifier: Apache-2.0
#include "tiff/ghost_area.hpp"

#include "support/tiff_builder.hpp"

#include <gtest/gtest.h>

#include <string>
#include <tuple>

namespace terrazzo::tiff {
namespace {

using testing::TiffBuilder;

// A file with `text` right behind its header, and one directory.
Directory directory_behind(std::string_view text, bool big = false, std::endian order = std::endian::little) {
  TiffBuilder builder(order, big);
  auto const bytes = std::as_bytes(std::span(text));
  static_cast<void>(builder.data({bytes.begin(), bytes.end()}));
  return builder.longs(256, {1}).directory();
}

std::optional<GhostArea> area_of(std::string_view text, bool big = false, std::endian order = std::endian::little) {
  Directory const directory = directory_behind(text, big, order);
  return read_ghost_area(directory.reader(), directory.header());
}

std::string replaced(std::string_view in, std::string_view what, std::string_view by) {
  std::string out(in);
  return out.replace(out.find(what), what.size(), by);
}

// Of any lines, with the size that they have.
std::string with_lines(std::string const& lines) {
  std::string digits = std::to_string(lines.size());
  digits.insert(0, 6 - digits.size(), '0');
  return "GDAL_STRUCTURAL_METADATA_SIZE=" + digits + " bytes\n" + lines;
}

class GhostText : public ::testing::TestWithParam<std::tuple<bool, bool, std::endian>> {};

TEST_P(GhostText, IsReadWithAllThatItPromises) {
  auto const [mask, big, order] = GetParam();
  std::string const text(ghost_text(mask));
  auto const area = area_of(text, big, order);
  ASSERT_TRUE(area);
  EXPECT_TRUE(area->has_size && area->has_unit && area->is_well_formed());
  EXPECT_TRUE(area->ifds_before_data && area->row_major && area->has_leaders && area->has_trailers);
  EXPECT_EQ(area->mask_interleaved, mask);
  EXPECT_FALSE(area->tile_interleaved || area->edited);
  EXPECT_EQ(area->leader_bytes(), 4u);
  EXPECT_EQ(area->trailer_bytes(), 4u);
  std::uint64_t const start = big ? 16 : 8;
  EXPECT_EQ(area->start_bytes, start);
  EXPECT_EQ(area->declared_bytes, area->lines.size()) << "it tells its own size";
  EXPECT_EQ(area->end_bytes, start + text.size() + text.size() % 2);
}

TEST_P(GhostText, IsTakenBackInPlace) {
  auto const [mask, big, order] = GetParam();
  std::string changed(ghost_text(mask));
  Directory const directory = directory_behind(changed, big, order);
  auto const edit = take_back_ghost(directory.reader(), directory.header());
  ASSERT_TRUE(edit);
  changed.replace(edit->offset_bytes - (big ? 16 : 8), edit->text.size(), edit->text);
  EXPECT_EQ(changed.size(), ghost_text(mask).size());
  EXPECT_NE(changed.find("\nKNOWN_INCOMPATIBLE_EDITION=YES\n"), std::string::npos);
  EXPECT_EQ(changed.find("=NO\n"), std::string::npos);
  auto const area = area_of(changed, big, order);
  ASSERT_TRUE(area);
  EXPECT_TRUE(area->edited && area->ifds_before_data && area->is_well_formed());
  Directory const edited = directory_behind(changed, big, order);
  EXPECT_FALSE(take_back_ghost(edited.reader(), edited.header())) << "once";
}

INSTANTIATE_TEST_SUITE_P(MaskBigAndOrder, GhostText,
                         ::testing::Combine(::testing::Bool(), ::testing::Bool(),
                                            ::testing::Values(std::endian::little, std::endian::big)));

TEST(GhostArea, IsNotSeenInOtherFiles) {
  EXPECT_FALSE(area_of(""));
  EXPECT_FALSE(area_of("KNOWN_INCOMPATIBLE_EDITION=NO\n pixels that look like it, and go on for more than a line"));
  EXPECT_FALSE(area_of(replaced(ghost_text(false), "GDAL_", "gdal_")));
  EXPECT_FALSE(area_of(" " + std::string(ghost_text(false)))) << "not at once behind the header";
}

TEST(GhostArea, IsNotSeenWhereADirectoryLies) {
  Directory const directory = directory_behind(ghost_text(false));
  Header header = directory.header();
  for (std::uint64_t const first : {0u, 8u, 16u, 50u}) {
    header.first_ifd_bytes = first;
    EXPECT_FALSE(read_ghost_area(directory.reader(), header)) << first;
  }
  header.first_ifd_bytes = 8 + 43;
  EXPECT_TRUE(read_ghost_area(directory.reader(), header)) << "behind the first line";
  EXPECT_FALSE(take_back_ghost(directory.reader(), header)) << "the line to change belongs to the directory";
}

TEST(GhostArea, OfAFileThatEndsInItsFirstLineIsNone) {
  Directory const directory = directory_behind(ghost_text(false));
  std::vector<std::byte> bytes(50);
  directory.reader().read(0, bytes);
  MetadataReader const reader(std::make_shared<io::MemorySource const>(std::span(bytes), "cut.tif"));
  EXPECT_FALSE(read_ghost_area(reader, directory.header()));
}

TEST(GhostArea, WithoutASizePromisesNothing) {
  for (auto const* const digits : {"=0001x0", "=    14", "=-00140", "=+00140", "=0x0140"}) {
    auto const area = area_of(replaced(ghost_text(false), "=000140", digits));
    ASSERT_TRUE(area) << digits;
    EXPECT_FALSE(area->has_size || area->ifds_before_data || area->has_leaders || area->has_trailers) << digits;
    EXPECT_EQ(area->end_bytes, 8u) << digits;
  }
}

TEST(GhostArea, IsReadAsFarAsItsSizeSays) {
  auto const shorter = area_of(replaced(ghost_text(false), "=000140", "=000030"));
  ASSERT_TRUE(shorter);
  EXPECT_EQ(shorter->lines.size(), 30u);
  EXPECT_TRUE(shorter->ifds_before_data);
  EXPECT_FALSE(shorter->row_major || shorter->has_leaders) << "behind the end";
  EXPECT_FALSE(shorter->is_well_formed()) << "the last line has no end";
  Directory const directory = directory_behind(replaced(ghost_text(false), "=000140", "=000030"));
  EXPECT_FALSE(take_back_ghost(directory.reader(), directory.header()));
}

TEST(GhostArea, LongerThanTheFileIsReadAsFarAsThatGoes) {
  auto const area = area_of(replaced(ghost_text(false), "=000140", "=999999"));
  ASSERT_TRUE(area);
  EXPECT_EQ(area->declared_bytes, 999999u);
  EXPECT_LT(area->lines.size(), 400u);
  EXPECT_TRUE(area->has_leaders);
  EXPECT_EQ(area->end_bytes, 8u + 43 + 999999);
}

TEST(GhostArea, MayBeEmpty) {
  auto const area = area_of(with_lines(""));
  ASSERT_TRUE(area);
  EXPECT_TRUE(area->has_size && area->is_well_formed());
  EXPECT_FALSE(area->ifds_before_data);
  EXPECT_EQ(area->end_bytes, 52u) << "51, and directories begin at even bytes";
}

TEST(GhostArea, KnowsItsOtherLines) {
  auto const area = area_of(with_lines("SOMEBODY=ELSE\nINTERLEAVE=TILE\n"));
  ASSERT_TRUE(area);
  EXPECT_TRUE(area->tile_interleaved && area->is_well_formed());
  EXPECT_FALSE(area->ifds_before_data || area->row_major);
}

TEST(GhostArea, KnowsWhatIsNoTextOfKeysAndValues) {
  for (std::string const lines : {"A=B\nC\n", "=B\n", "\n", "A=B", "A=B\nC=D", "A=\x01\n", "A=\x80\n", "A=\tB\n"}) {
    EXPECT_FALSE(area_of(with_lines(lines))->is_well_formed()) << lines;
  }
  for (std::string const lines : {"A=B\n", "A=\n", " A=B\n", "A=B\n C=D\n ", "   ", "A=B=C\n"}) {
    EXPECT_TRUE(area_of(with_lines(lines))->is_well_formed()) << lines;
  }
}

TEST(GhostArea, WithoutItsUnitIsReadAllTheSame) {
  auto const area = area_of(replaced(ghost_text(false), " bytes", " octet"));
  ASSERT_TRUE(area);
  EXPECT_FALSE(area->has_unit);
  EXPECT_TRUE(area->ifds_before_data);
}

TEST(TileFrames, AreTheSizeAndTheLastFourBytes) {
  EXPECT_EQ(tile_leader(0x01020304), (TileFrame{std::byte{4}, std::byte{3}, std::byte{2}, std::byte{1}}));
  std::vector<std::byte> const tile{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}, std::byte{5}};
  EXPECT_EQ(tile_trailer(tile), (TileFrame{std::byte{2}, std::byte{3}, std::byte{4}, std::byte{5}}));
  EXPECT_EQ(tile_trailer(std::span(tile).first(2)), (TileFrame{std::byte{1}, std::byte{2}}));
  EXPECT_EQ(tile_trailer({}), TileFrame{});
}

}  // namespace
}  // namespace terrazzo::tiff
