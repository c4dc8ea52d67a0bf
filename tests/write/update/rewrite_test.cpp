// SPDX-License-Identifier: Apache-2.0
#include "write/update/rewrite.hpp"

#include "support/file_bytes.hpp"
#include "support/tiff_builder.hpp"

#include "io/memory_source.hpp"
#include "terrazzo/error.hpp"
#include "tiff/directory.hpp"
#include "write/update/tag_edit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string_view>

namespace terrazzo::writing {
namespace {

constexpr std::uint32_t kWidth = 100, kHeight = 70;

std::vector<std::byte> made_file(bool cog, bool mask) {
  std::vector<std::uint16_t> pixels(std::size_t{kWidth} * kHeight);
  std::iota(pixels.begin(), pixels.end(), std::uint16_t{0});
  std::vector<std::uint8_t> validity(pixels.size(), 255);
  std::fill_n(validity.begin(), 700, std::uint8_t{0});
  WriteOptions options;
  options.dtype = DType::u16;
  options.tile_size = {16, 32};
  options.overview_factors = {{2, 4}};
  options.cog = cog;
  options.mask = mask;
  options.sparse = true;
  std::vector<std::byte> bytes;
  Writer writer = create(memory_sink(bytes), kWidth, kHeight, options);
  HostView const rows{pixels.data(), DType::u16, 1, kHeight, kWidth, 0, 2 * kWidth, 2};
  HostView const mask_rows{validity.data(), DType::u8, 1, kHeight, kWidth, 0, kWidth, 1};
  if (mask) {
    writer.write_rows(rows, mask_rows);
  } else {
    writer.write_rows(rows);
  }
  static_cast<void>(writer.close());
  return bytes;
}

RewritePlan plan_of(ByteSourcePtr const& source, bool cog) {
  RewritePlan plan;
  plan.cog = cog;
  tiff::Chain const chain = tiff::read_chain(source);
  plan.bigtiff = chain.header.big;
  std::vector<std::string> ignored;
  for (tiff::Directory const& directory : chain.directories) {
    tiff::Image const image = tiff::parse_image(directory, ignored);
    plan.images.push_back({tags_of(directory), image, tiff::BlockIndex(directory, image), image.is_mask()});
  }
  return plan;
}

std::vector<std::byte> rewritten(std::vector<std::byte> const& bytes, bool cog) {
  auto const source = std::make_shared<io::MemorySource>(bytes, "memory");
  std::vector<std::byte> out;
  auto const sink = memory_sink(out);
  sink->open();
  WriteReport const report = rewrite(plan_of(source, cog), *source, *sink);
  sink->publish(report.bytes_written);
  return out;
}

class RewriteTest : public ::testing::TestWithParam<bool> {};

TEST_P(RewriteTest, OfACogThatIsInOrderGivesTheSameBytes) {
  std::vector<std::byte> const file = made_file(true, GetParam());
  EXPECT_EQ(rewritten(file, true), file);
}

TEST_P(RewriteTest, OfAPlainFileKeepsPixelsAndMasks) {
  std::vector<std::byte> const file = made_file(false, GetParam());
  std::vector<std::byte> const again = rewritten(file, false);
  Dataset const before = open_memory(file), after = open_memory(again);
  ASSERT_EQ(after.info().overviews.size(), 2U);
  for (std::uint32_t level = 0; level < 3; ++level) {
    HostArray const a = read(before, {.level = level}), b = read(after, {.level = level});
    EXPECT_TRUE(std::ranges::equal(a.bytes(), b.bytes()));
    HostArray const m = read_mask(before, {.level = level}), n = read_mask(after, {.level = level});
    EXPECT_TRUE(std::ranges::equal(m.bytes(), n.bytes()));
  }
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutMask, RewriteTest, ::testing::Bool());

// A raster of 64 x 64 in one tile and a mask of 16 tiles, all different.
std::vector<std::byte> file_with_small_mask_tiles() {
  testing::TiffBuilder builder;
  std::vector<std::byte> pixels = testing::byte_pattern(64 * 64);
  auto const tile = static_cast<std::uint32_t>(builder.data(pixels));
  std::vector<std::uint32_t> offsets, sizes;
  for (unsigned i = 0; i < 16; ++i) {
    offsets.push_back(static_cast<std::uint32_t>(builder.data(testing::byte_pattern(32, i * 100))));
    sizes.push_back(32);
  }
  builder.longs(256, {64}).longs(257, {64}).shorts(258, {8}).shorts(259, {1}).shorts(262, {1});
  builder.longs(322, {64}).longs(323, {64}).longs(324, {tile}).longs(325, {64 * 64});
  builder.next_ifd().longs(254, {4}).longs(256, {64}).longs(257, {64}).shorts(258, {1}).shorts(259, {1});
  builder.shorts(262, {4}).longs(322, {16}).longs(323, {16}).longs(324, offsets).longs(325, sizes);
  return builder.bytes();
}

TEST(Rewrite, CarriesMasksWhoseTilesAreOthersThanTheirImages) {
  std::vector<std::byte> const file = file_with_small_mask_tiles();
  for (bool const cog : {false, true}) {
    std::vector<std::byte> const again = rewritten(file, cog);
    Dataset const before = open_memory(file), after = open_memory(again);
    EXPECT_TRUE(std::ranges::equal(read(before).bytes(), read(after).bytes()));
    EXPECT_TRUE(std::ranges::equal(read_mask(before).bytes(), read_mask(after).bytes())) << "COG: " << cog;
    std::string_view const text(reinterpret_cast<char const*>(again.data()), again.size());
    EXPECT_EQ(text.find("MASK_INTERLEAVED"), std::string_view::npos) << "they cannot be";
  }
}

TEST(Rewrite, CarriesEveryMaskThereIs) {
  // Two masks behind one image; the second has more tiles.
  auto const source = std::make_shared<io::MemorySource>(file_with_small_mask_tiles(), "memory");
  RewritePlan plan = plan_of(source, true);
  plan.images.insert(plan.images.begin() + 1, plan.images.front());
  plan.images[1].is_mask = true;
  std::vector<std::byte> out;
  auto const sink = memory_sink(out);
  sink->open();
  EXPECT_EQ(rewrite(plan, *source, *sink).tiles, 18U);
}

TEST(Rewrite, LeavesNoOldListOfTilesBehind) {
  // Tiles that are listed as strips, as some writers do.
  testing::TiffBuilder builder;
  auto const at = static_cast<std::uint32_t>(builder.data(testing::byte_pattern(256)));
  builder.longs(256, {16}).longs(257, {16}).shorts(258, {8}).shorts(259, {1}).shorts(262, {1});
  builder.longs(273, {at}).longs(279, {256}).longs(322, {16}).longs(323, {16});
  std::vector<std::byte> const again = rewritten(builder.bytes(), false);
  tiff::Chain const chain = tiff::read_chain(std::make_shared<io::MemorySource>(again, "memory"));
  EXPECT_FALSE(chain.directories[0].has(tiff::tag::StripOffsets));
  EXPECT_TRUE(chain.directories[0].has(tiff::tag::TileOffsets));
  EXPECT_TRUE(std::ranges::equal(read(open_memory(again)).bytes(), testing::byte_pattern(256)));
}

TEST(Rewrite, CopiesATileThatIsLargerThanABatch) {
  // 17 MiB in one strip.
  testing::TiffBuilder builder;
  constexpr std::uint32_t kSide = 1 << 12, kRows = (std::uint32_t{17} << 20) / kSide;
  auto const at = static_cast<std::uint32_t>(builder.data(testing::byte_pattern(std::size_t{kSide} * kRows)));
  builder.longs(256, {kSide}).longs(257, {kRows}).shorts(258, {8}).shorts(262, {1}).longs(273, {at});
  builder.longs(278, {kRows}).longs(279, {kSide * kRows});
  std::vector<std::byte> const file = builder.bytes(), again = rewritten(file, false);
  EXPECT_TRUE(std::ranges::equal(read(open_memory(again)).bytes(), read(open_memory(file)).bytes()));
}

TEST(Rewrite, PutsTheRasterOfALongFrontWhereTheWriterDoes) {
  // Overviews of 1.3 MB come before it.
  constexpr std::uint32_t kSide = 1600;
  std::vector<std::uint16_t> const pixels(std::size_t{kSide} * kSide, 7);
  WriteOptions options;
  options.dtype = DType::u16;
  options.compression = Compression::none;
  options.cog = true;
  options.tile_size = {256, 256};
  std::vector<std::byte> file;
  HostView const view{const_cast<std::uint16_t*>(pixels.data()), DType::u16, 1, kSide, kSide, 0, 2 * kSide, 2};
  static_cast<void>(write(memory_sink(file), view, options));
  EXPECT_EQ(rewritten(file, true), file);
}

TEST(Rewrite, RefusesTilesOutsideTheFile) {
  std::vector<std::byte> file = made_file(false, false);
  file.resize(file.size() - 10);
  try {
    static_cast<void>(rewritten(file, false));
    FAIL() << "no error";
  } catch (Error const& error) { EXPECT_EQ(error.kind(), ErrorKind::malformed); }
}

TEST(Rewrite, StopsWhenToldSo) {
  std::vector<std::byte> const file = made_file(true, false);
  auto const source = std::make_shared<io::MemorySource>(file, "memory");
  RewritePlan plan = plan_of(source, true);
  plan.progress = [](std::uint64_t, std::uint64_t) { return false; };
  std::vector<std::byte> out;
  auto const sink = memory_sink(out);
  sink->open();
  try {
    static_cast<void>(rewrite(plan, *source, *sink));
    FAIL() << "no error";
  } catch (Error const& error) { EXPECT_EQ(error.kind(), ErrorKind::cancelled); }
}

}  // namespace
}  // namespace terrazzo::writing
