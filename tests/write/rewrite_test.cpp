// SPDX-License-Identifier: Apache-2.0
#include "write/rewrite.hpp"

#include "io/memory_source.hpp"
#include "terrazzo/error.hpp"
#include "tiff/directory.hpp"
#include "write/tag_edit.hpp"

#include <gtest/gtest.h>

#include <numeric>

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
