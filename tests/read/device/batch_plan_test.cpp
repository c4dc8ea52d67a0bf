// SPDX-License-Identifier: Apache-2.0
#include "read/device/batch_plan.hpp"

#include "read/images.hpp"
#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace terrazzo::reading {
namespace {

constexpr std::uint64_t kMiB = 1u << 20;

// Tiles of these compressed sizes, 64 KiB each when decoded, all the device's.
DeviceWork work_of(std::vector<std::uint64_t> const& sizes) {
  DeviceWork work;
  std::uint64_t offset = 1000;
  for (std::uint64_t const size : sizes) {
    WorkTile tile;
    tile.offset_bytes = offset;
    tile.size_bytes = size;
    tile.decoded_bytes = 65536;
    tile.use_count = 1;
    offset += size;
    work.tiles.push_back(tile);
    work.input_bytes += size;
    work.max_input_bytes = std::max(work.max_input_bytes, size);
    work.max_decoded_bytes = 65536;
  }
  work.device_tiles = sizes.size();
  return work;
}

BatchRules rules_for(DeviceMethod method, std::uint64_t budget_bytes) {
  return {.method = method,
          .budget_bytes = budget_bytes,
          .chunk_bytes = 2 * kMiB,
          .scratch_bytes = [](DecodeLoad const& load) { return static_cast<std::size_t>(load.tiles) * 1000; }};
}

// Every byte of every tile is in exactly one piece, in its batch, and no piece is larger than a chunk.
void expect_all_bytes_once(DeviceWork const& work, BatchPlan const& plan, BatchRules const& rules) {
  std::vector<std::uint64_t> fetched(work.tiles.size(), 0);
  std::vector<std::size_t> pieces(plan.batches.size(), 0);
  for (Piece const& piece : plan.pieces) {
    WorkBatch const& batch = plan.batches[piece.batch];
    EXPECT_EQ(piece.first_of_batch, pieces[piece.batch]++ == 0);
    EXPECT_LE(piece.bytes, rules.chunk_bytes);
    EXPECT_GE(piece.first_tile, batch.first_tile);
    EXPECT_LE(piece.first_tile + piece.tile_count, batch.first_tile + batch.tile_count);
    for (std::size_t t = piece.first_tile; t < piece.first_tile + piece.tile_count; ++t) {
      WorkTile const& tile = work.tiles[t];
      std::uint64_t const at = place_in_input(tile, rules.method) + piece.skip_bytes;
      EXPECT_GE(at, piece.begin);
      std::uint64_t const bytes = piece.tile_count == 1 ? piece.bytes : tile.size_bytes;
      EXPECT_LE(at + bytes, piece.begin + piece.bytes);
      EXPECT_EQ(fetched[t], piece.skip_bytes);
      fetched[t] += bytes;
    }
  }
  for (std::size_t t = 0; t < work.tiles.size(); ++t) { EXPECT_EQ(fetched[t], work.tiles[t].size_bytes) << t; }
  EXPECT_EQ(pieces, plan.pieces_of_batch);
}

TEST(BatchPlan, EveryByteIsFetchedOnce) {
  for (DeviceMethod const method : {DeviceMethod::raw, DeviceMethod::lzw, DeviceMethod::deflate, DeviceMethod::zstd}) {
    std::vector<std::uint64_t> sizes;
    for (std::uint64_t i = 0; i < 3000; ++i) {
      sizes.push_back(method == DeviceMethod::raw ? 65536 : 1 + i * 7919 % 90000);
    }
    sizes[17] = method == DeviceMethod::raw ? 65536 : 5 * kMiB + 3;  // larger than a chunk
    DeviceWork work = work_of(sizes);
    BatchRules const rules = rules_for(method, 512 * kMiB);
    BatchPlan const plan = plan_batches(work, rules);
    expect_all_bytes_once(work, plan, rules);
    EXPECT_LE(std::accumulate(plan.slot_bytes.begin(), plan.slot_bytes.end(), std::uint64_t{0}), rules.budget_bytes);
  }
}

TEST(BatchPlan, SlotsTogetherKeepTheBudget) {
  for (std::uint64_t const budget : {std::uint64_t{300'000}, 2 * kMiB, 20 * kMiB, 200 * kMiB, 2000 * kMiB}) {
    DeviceWork work = work_of(std::vector<std::uint64_t>(2000, 40000));
    BatchPlan const plan = plan_batches(work, rules_for(DeviceMethod::zstd, budget));
    EXPECT_LE(std::accumulate(plan.slot_bytes.begin(), plan.slot_bytes.end(), std::uint64_t{0}), budget);
    EXPECT_GE(plan.slots(), 1u);
    std::size_t tiles = 0;
    for (WorkBatch const& batch : plan.batches) { tiles += batch.tile_count; }
    EXPECT_EQ(tiles, 2000u);
  }
}

TEST(BatchPlan, ATileThatDoesNotFitIsRefusedByName) {
  DeviceWork work = work_of({40000});
  try {
    (void)plan_batches(work, rules_for(DeviceMethod::zstd, 100'000));
    FAIL() << "a budget of 100,000 bytes holds no tile of 65,536 and its 40,000 compressed bytes";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::limit);
    EXPECT_NE(std::string(error.what()).find("TERRAZZO_DEVICE_BUDGET"), std::string::npos);
  }
}

TEST(BatchPlan, PinnedInputKeepsTheHostsLimit) {
  for (std::uint64_t const limit : {std::uint64_t{45'000}, kMiB, 10 * kMiB, 1000 * kMiB}) {
    SCOPED_TRACE(limit);
    DeviceWork work = work_of(std::vector<std::uint64_t>(2000, 40000));
    BatchRules rules = rules_for(DeviceMethod::jpeg, 4096 * kMiB);
    rules.host_input = true;
    rules.host_input_limit_bytes = limit;
    BatchPlan const plan = plan_batches(work, rules);
    EXPECT_GE(plan.layout.host_input_bytes, 40000u);
    EXPECT_LE(plan.layout.host_input_bytes * plan.slots(), limit);
    expect_all_bytes_once(work, plan, rules);
  }
}

TEST(BatchPlan, ATileThatDoesNotFitTheHostsLimitIsRefusedByName) {
  DeviceWork work = work_of({40000});
  BatchRules rules = rules_for(DeviceMethod::jpeg, 4096 * kMiB);
  rules.host_input = true;
  rules.host_input_limit_bytes = 39'999;
  try {
    (void)plan_batches(work, rules);
    FAIL();
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::limit);
    EXPECT_NE(std::string(error.what()).find("TERRAZZO_MEMORY_LIMIT"), std::string::npos) << error.what();
  }
}

TEST(BatchPlan, VendorDecodersGetLargeBatchesAndOursStartEarly) {
  DeviceWork zstd = work_of(std::vector<std::uint64_t>(1024, 40000));
  EXPECT_EQ(plan_batches(zstd, rules_for(DeviceMethod::zstd, 4096 * kMiB)).batches.size(), 1u);
  DeviceWork lzw = work_of(std::vector<std::uint64_t>(1024, 40000));
  EXPECT_EQ(plan_batches(lzw, rules_for(DeviceMethod::lzw, 4096 * kMiB)).batches.size(), 8u);
}

TEST(BatchPlan, TheHostsShareHasItsOwnSlot) {
  DeviceWork work = work_of(std::vector<std::uint64_t>(1024, 40000));
  work.device_tiles = 700;
  for (std::size_t t = 700; t < 1024; ++t) { work.tiles[t].size_bytes = 0; }
  work.input_bytes = 700 * 40000;
  BatchPlan const plan = plan_batches(work, rules_for(DeviceMethod::deflate, 4096 * kMiB));
  ASSERT_EQ(plan.batches.size(), 2u);
  EXPECT_FALSE(plan.batches[0].on_host);
  EXPECT_TRUE(plan.batches[1].on_host);
  ASSERT_EQ(plan.slots(), 2u);
  EXPECT_LT(plan.slot_bytes[1], 324 * (65536 + 1024)) << "what the host decodes needs no scratch";
  EXPECT_GT(plan.slot_bytes[0], 700 * 65536);
}

TEST(BatchPlan, TheFirstPiecesAreSmall) {
  DeviceWork work = work_of(std::vector<std::uint64_t>(4096, 100'000));
  BatchPlan const plan = plan_batches(work, rules_for(DeviceMethod::lzw, 4096 * kMiB));
  EXPECT_LE(plan.pieces.front().bytes, 512u * 1024);
  EXPECT_LE(plan.pieces.back().bytes, 512u * 1024);
  EXPECT_GT(plan.pieces[plan.pieces.size() / 2].bytes, kMiB);
}

TEST(BatchPlan, NothingToDoIsAPlan) {
  DeviceWork work;
  BatchPlan const plan = plan_batches(work, rules_for(DeviceMethod::lzw, kMiB));
  EXPECT_TRUE(plan.batches.empty());
  EXPECT_TRUE(plan.pieces.empty());
  EXPECT_EQ(plan.slots(), 1u);
}

}  // namespace
}  // namespace terrazzo::reading
