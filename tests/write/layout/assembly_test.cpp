// SPDX-License-Identifier: Apache-2.0
//
// Where blocks lie. That sinks and ways of spooling make no difference is in writer_test.cpp.
#include "write/layout/assembly.hpp"

#include "write/test_image.hpp"

#include "terrazzo/error.hpp"
#include "tiff/ghost_area.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>

namespace terrazzo::writing {
namespace {

using terrazzo::testing::byte_pattern;

FilePlan plan_of(std::uint32_t width, std::uint32_t height, WriteOptions options) {
  options.tile_size = {16, 16};
  options.compression = Compression::none;
  return plan_file(width, height, options);
}

// A sink that only remembers how far it was written: for files nobody has room for.
class Measure final : public ByteSink {
 public:
  [[nodiscard]] std::string const& name() const noexcept override { return name_; }
  void open() override {}
  void write_at(std::uint64_t offset, std::span<std::byte const> bytes) override {
    end_bytes = std::max(end_bytes, offset + bytes.size());
  }
  void publish(std::uint64_t) override {}
  void discard() noexcept override {}

  std::uint64_t end_bytes = 0;

 private:
  std::string name_ = "measure";
};

std::uint32_t load_u32(std::vector<std::byte> const& bytes, std::uint64_t at) {
  std::uint32_t value = 0;
  std::memcpy(&value, bytes.data() + at, 4);
  return value;
}

bool holds(std::vector<std::byte> const& file, std::uint64_t at, std::span<std::byte const> bytes) {
  return at + bytes.size() <= file.size() &&
         std::equal(bytes.begin(), bytes.end(), file.begin() + static_cast<std::ptrdiff_t>(at));
}

TEST(Assembly, PutsBlocksOfAPlainFileAsTheyCome) {
  FilePlan const plan = plan_of(40, 20, {});
  std::vector<std::byte> file;
  auto const sink = memory_sink(file);
  sink->open();
  Assembly assembly(plan, *sink);
  // Tiles of 16 x 16 bytes without compression: what is put in is read back.
  std::vector<std::byte> const first = byte_pattern(256, 1), second = byte_pattern(256, 2);
  assembly.add_image(0, {2, 1, 0}, first);
  assembly.add_image(0, {0, 0, 0}, second);
  for (TileId const id : {TileId{1, 0, 0}, {2, 0, 0}, {0, 1, 0}, {1, 1, 0}}) { assembly.add_image(0, id, {}); }
  WriteReport const report = assembly.finish({});
  sink->publish(report.bytes_written);
  EXPECT_EQ(report.tiles, 6U);
  EXPECT_EQ(report.sparse_tiles, 4U);
  EXPECT_EQ(report.compressed_bytes, 512U);
  EXPECT_EQ(report.bytes_written, file.size());
  EXPECT_EQ(report.spool_way, "");
  EXPECT_TRUE(holds(file, file.size() - 512, first));
  EXPECT_TRUE(holds(file, file.size() - 256, second));
  Dataset const dataset = open_memory(file);
  ReadPlan const tiles = terrazzo::plan(dataset);
  EXPECT_EQ(tiles.tile(0).offset_bytes, file.size() - 256);
  EXPECT_EQ(tiles.tile(5).offset_bytes, file.size() - 512);
  EXPECT_EQ(tiles.tile(1).size_bytes, 0U);
}

TEST(Assembly, PutsACogInTheOrderThatReadersWant) {
  for (bool const mask : {false, true}) {
    for (bool const bigtiff : {false, true}) {
      WriteOptions options;
      options.cog = true;
      options.mask = mask;
      options.bigtiff = bigtiff ? BigTiff::always : BigTiff::never;
      FilePlan const plan = plan_of(32, 16, options);
      ASSERT_EQ(plan.levels.size(), 2U);
      std::vector<std::byte> file;
      auto const sink = memory_sink(file);
      sink->open();
      Assembly assembly(plan, *sink);
      std::vector<std::byte> const left = byte_pattern(256, 1), right = byte_pattern(256, 2),
                                   small = byte_pattern(256, 3), bits = byte_pattern(3, 4);
      auto const add = [&](std::size_t level, TileId id, std::span<std::byte const> bytes) {
        assembly.add_image(level, id, bytes);
        if (mask) { assembly.add_mask(level, id, bits); }
      };
      add(0, {0, 0, 0}, left);
      add(1, {0, 0, 0}, small);
      add(0, {1, 0, 0}, right);
      WriteReport const report = assembly.finish({});
      sink->publish(report.bytes_written);
      EXPECT_EQ(report.bytes_written, file.size());
      EXPECT_EQ(report.spool_way, "memory");

      // The ghost area stands right behind the header and says its own size.
      std::string const ghost(reinterpret_cast<char const*>(file.data()) + (bigtiff ? 16 : 8),
                              tiff::ghost_text(mask).size());
      EXPECT_EQ(ghost, tiff::ghost_text(mask));

      // From the end: the raster's blocks, each with its mask; before them those of the overview.
      std::uint64_t at = file.size();
      auto const expect_before = [&](std::span<std::byte const> bytes) {
        at -= bytes.size() + 8;
        EXPECT_EQ(load_u32(file, at), bytes.size());
        EXPECT_TRUE(holds(file, at + 4, bytes));
        // The trailer repeats the last four bytes.
        std::size_t const last = std::min<std::size_t>(4, bytes.size());
        EXPECT_TRUE(holds(file, at + 4 + bytes.size(), bytes.last(last)));
      };
      for (auto const* const block : {&right, &left, &small}) {
        if (mask) { expect_before(bits); }
        expect_before(*block);
      }
      // Slack for later edits, all zeros.
      EXPECT_TRUE(std::all_of(file.begin() + static_cast<std::ptrdiff_t>(at) - 2048,
                              file.begin() + static_cast<std::ptrdiff_t>(at),
                              [](std::byte b) { return b == std::byte{0}; }));
      EXPECT_TRUE(open_memory(file).info().layout.cog);
    }
  }
}

// Sizes that are known beforehand change the way, not the file: whatever the order that blocks come in.
TEST(Assembly, PutsBlocksStraightToTheirPlacesWhenTheirSizesAreKnown) {
  for (bool const mask : {false, true}) {
    for (PlanarLayout const planar : {PlanarLayout::contiguous, PlanarLayout::separate}) {
      WriteOptions options;
      options.cog = true;
      options.bands = 2;
      options.planar = planar;
      options.mask = mask;
      FilePlan const plan = plan_of(100, 70, options);
      struct Block {
        BlockSize size;
        std::vector<std::byte> image, mask;
      };
      std::vector<Block> blocks;
      unsigned seed = 0;
      for (std::size_t level = 0; level < plan.levels.size(); ++level) {
        for (std::uint32_t plane = 0; plane < plan.planes; ++plane) {
          for (std::uint32_t row = 0; row < plan.levels[level].blocks_down; ++row) {
            for (std::uint32_t column = 0; column < plan.levels[level].blocks_across; ++column) {
              bool const sparse = ++seed % 7 == 0;
              Block block{{level, {column, row, plane}},
                          sparse ? std::vector<std::byte>() : byte_pattern(100 + seed % 50, seed),
                          mask && plane == 0 ? byte_pattern(10 + seed % 5, seed) : std::vector<std::byte>()};
              block.size.image_bytes = static_cast<std::uint32_t>(block.image.size());
              block.size.mask_bytes = static_cast<std::uint32_t>(block.mask.size());
              blocks.push_back(std::move(block));
            }
          }
        }
      }
      auto const assembled = [&](bool settled) {
        std::vector<std::byte> file;
        auto const sink = memory_sink(file);
        sink->open();
        Assembly assembly(plan, *sink);
        std::vector<Block> order = blocks;
        if (settled) {
          std::vector<BlockSize> sizes;
          for (Block const& block : blocks) { sizes.push_back(block.size); }
          EXPECT_TRUE(assembly.fix_offsets(sizes));
          std::ranges::shuffle(order, std::mt19937(5));
        }
        for (Block const& block : order) {
          assembly.add_image(block.size.level, block.size.id, block.image);
          if (mask && block.size.id.plane == 0) { assembly.add_mask(block.size.level, block.size.id, block.mask); }
        }
        WriteReport const report = assembly.finish({});
        EXPECT_EQ(report.spool_way, settled ? "" : "memory");
        sink->publish(report.bytes_written);
        return file;
      };
      EXPECT_TRUE(assembled(true) == assembled(false)) << "mask " << mask;
    }
  }
}

TEST(Assembly, SettlesNothingWhereBlocksCannotGoToTheirPlaces) {
  std::vector<std::byte> file;
  auto const in_memory = memory_sink(file);
  in_memory->open();
  FilePlan const plain = plan_of(40, 20, {});
  EXPECT_FALSE(Assembly(plain, *in_memory).fix_offsets({}));
  WriteOptions options;
  options.cog = true;
  FilePlan const cog = plan_of(40, 20, options);
  auto const pipe = append_sink("pipe", [](std::span<std::byte const>) {});
  pipe->open();
  EXPECT_FALSE(Assembly(cog, *pipe).fix_offsets({}));
}

TEST(Assembly, RoundsALongFrontUp) {
  WriteOptions options;
  options.cog = true;
  options.overview_factors = {{2}};
  FilePlan const plan = plan_of(16, 16, options);
  for (std::size_t const overview_bytes : {std::size_t{500'000}, std::size_t{1'100'000}}) {
    std::vector<std::byte> file;
    auto const sink = memory_sink(file);
    sink->open();
    Assembly assembly(plan, *sink);
    assembly.add_image(0, {}, byte_pattern(256, 1));
    assembly.add_image(1, {}, byte_pattern(overview_bytes, 1));
    WriteReport const report = assembly.finish({});
    sink->publish(report.bytes_written);
    EXPECT_EQ(file.size(), report.bytes_written);
    std::uint64_t const raster = file.size() - 256 - 8;
    EXPECT_EQ(raster % 65536 == 0, overview_bytes > 1'000'000);
    EXPECT_EQ(load_u32(file, raster), 256U);
  }
}

TEST(Assembly, RefusesAClassicFileOfMoreThanFourGigabytes) {
  WriteOptions options;
  options.bigtiff = BigTiff::never;
  FilePlan const plan = plan_of(16, 16 * 20, options);
  Measure sink;
  Assembly assembly(plan, sink);
  std::vector<std::byte> const block(std::size_t{1} << 28);
  try {
    for (std::uint32_t row = 0; row < 20; ++row) { assembly.add_image(0, {0, row, 0}, block); }
    FAIL();
  } catch (Error const& error) { EXPECT_EQ(error.kind(), ErrorKind::limit); }
  EXPECT_LE(sink.end_bytes, 0xFFFFFFFFULL);
  EXPECT_GT(sink.end_bytes, 0xE0000000ULL);
}

}  // namespace
}  // namespace terrazzo::writing
