// SPDX-License-Identifier: Apache-2.0
#include "read/device/batch_control.hpp"

#include "read/images.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace terrazzo::reading {
namespace {

// Two windows of 3 x 3 tiles, in batches of at most four tiles: the middle tile is wanted by both.
struct Fixture {
  Opened opened{
      image<std::uint8_t>({.width = 40, .height = 40, .tile_width = 16, .tile_height = 16, .compression = kPackBits})};
  std::vector<ReadJob> jobs{{make_plan(opened->shared_impl(), {})},
                            {make_plan(opened->shared_impl(), {.window = Window{18, 20, 5, 3}}), 1600}};
  tile::ResultFormat result{.bands = 1, .row_stride_bytes = 40, .pixel_stride_bytes = 1};
  DeviceWork work = collect_work(jobs, DeviceMethod::packbits);
  std::vector<WorkBatch> batches = cut_batches(work, DeviceMethod::packbits, 4, 1 << 20);

  [[nodiscard]] BatchLayout layout() const {
    BatchLayout layout;
    for (WorkBatch const& batch : batches) {
      layout.tiles = std::max(layout.tiles, batch.tile_count);
      layout.placements = std::max(layout.placements, batch.placement_count);
    }
    layout.control_bytes = layout.statuses() + layout.tiles;
    return layout;
  }
};

// Aligned as pinned memory is, with a guard behind it.
struct Memory {
  explicit Memory(BatchLayout const& layout)
      : words(layout.control_bytes / 8 + 2, 0xA5A5A5A5A5A5A5A5u), bytes(layout.control_bytes) {}
  [[nodiscard]] std::byte* data() { return reinterpret_cast<std::byte*>(words.data()); }
  [[nodiscard]] bool guard_is_whole() {
    return std::all_of(data() + bytes, data() + words.size() * 8, [](std::byte b) { return b == std::byte{0xA5}; });
  }
  std::vector<std::uint64_t> words;
  std::size_t bytes;
};

TEST(BatchControl, TellsOfEveryTileAndEveryUseOfABatch) {
  Fixture const fixture;
  ASSERT_EQ(fixture.batches.size(), 3u);
  BatchLayout const layout = fixture.layout();
  std::size_t placements = 0, shared = 0;
  for (WorkBatch const& batch : fixture.batches) {
    Memory memory(layout);
    BatchControl const control(memory.data(), layout);
    write_control(control, batch, fixture.work, fixture.jobs, fixture.result);
    std::size_t next = 0;
    for (std::size_t i = 0; i < batch.tile_count; ++i) {
      WorkTile const& tile = fixture.work.tiles[batch.first_tile + i];
      EXPECT_EQ(control.input_offsets()[i], tile.input_offset);
      EXPECT_EQ(control.input_sizes()[i], tile.size_bytes);
      EXPECT_EQ(control.output_offsets()[i], tile.output_offset);
      EXPECT_EQ(control.output_sizes()[i], 256u);
      shared += tile.use_count == 2 ? 1 : 0;
      for (std::size_t u = 0; u < tile.use_count; ++u, ++next) {
        tile::Placement const& placement = control.placements()[next];
        EXPECT_EQ(placement.tile, i);
        EXPECT_EQ(placement.source_offset_bytes, tile.output_offset);
        EXPECT_EQ(placement.bands_index, fixture.work.uses[tile.first_use + u].job);
      }
    }
    EXPECT_EQ(next, batch.placement_count);
    EXPECT_EQ(*reinterpret_cast<std::uint8_t const*>(control.statuses()), 0xA5) << "statuses are the decoder's";
    EXPECT_TRUE(memory.guard_is_whole());
    placements += next;
  }
  EXPECT_EQ(placements, 10u);
  EXPECT_EQ(shared, 1u);
}

TEST(BatchControl, PartsDoNotOverlap) {
  Fixture const fixture;
  BatchLayout const layout = fixture.layout();
  Memory memory(layout);
  BatchControl const control(memory.data(), layout);
  std::fill_n(control.input_offsets(), layout.tiles, 1);
  std::fill_n(control.input_sizes(), layout.tiles, 2);
  std::fill_n(control.output_offsets(), layout.tiles, 3);
  std::fill_n(control.output_sizes(), layout.tiles, 4);
  std::fill_n(control.placements(), layout.placements, tile::Placement{.tile = 5});
  std::fill_n(control.statuses(), layout.tiles, tile::TileStatus::ok);
  EXPECT_EQ(std::count(control.input_offsets(), control.input_offsets() + layout.tiles, 1u), 4);
  EXPECT_EQ(std::count(control.input_sizes(), control.input_sizes() + layout.tiles, 2u), 4);
  EXPECT_EQ(std::count(control.output_offsets(), control.output_offsets() + layout.tiles, 3u), 4);
  EXPECT_EQ(std::count(control.output_sizes(), control.output_sizes() + layout.tiles, 4u), 4);
  for (std::size_t i = 0; i < layout.placements; ++i) { EXPECT_EQ(control.placements()[i].tile, 5u); }
  EXPECT_TRUE(memory.guard_is_whole());
}

TEST(BatchControl, FindsTheHighestPlacement) {
  Fixture const fixture;
  BatchLayout const layout = fixture.layout();
  std::vector<std::uint32_t> rows;
  for (WorkBatch const& batch : fixture.batches) {
    Memory memory(layout);
    BatchControl const control(memory.data(), layout);
    write_control(control, batch, fixture.work, fixture.jobs, fixture.result);
    rows.push_back(max_placed_rows(control, batch));
  }
  // Tiles 0-3, 4-7, and the corner tile, of which the image has eight rows.
  EXPECT_EQ(rows, (std::vector<std::uint32_t>{16, 16, 8}));
}

TEST(BatchControl, FailedTilesAreThoseOfTheBatchThatAreNotOk) {
  BatchLayout layout;
  layout.tiles = 5;
  layout.control_bytes = layout.statuses() + layout.tiles;
  Memory memory(layout);
  BatchControl const control(memory.data(), layout);
  std::fill_n(control.statuses(), 5, tile::TileStatus::ok);
  EXPECT_TRUE(failed_tiles(control, {.tile_count = 5}).empty());
  control.statuses()[0] = control.statuses()[3] = control.statuses()[4] = tile::TileStatus::corrupt;
  EXPECT_EQ(failed_tiles(control, {.tile_count = 4}), (std::vector<std::uint32_t>{0, 3}));
}

}  // namespace
}  // namespace terrazzo::reading
