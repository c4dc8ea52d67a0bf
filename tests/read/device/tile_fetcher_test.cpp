// SPDX-License-Identifier: Apache-2.0
//
// What can be said without a device; device_read_test.cpp and the GPU suite fetch.
#include "read/device/tile_fetcher.hpp"

#include "read/images.hpp"
#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace terrazzo::reading {
namespace {

struct Fixture {
  Opened opened{image<std::uint8_t>({.width = 64, .height = 64, .tile_width = 16, .tile_height = 16})};
  DeviceWork work;
  BatchPlan plan;

  Fixture() {
    ReadJob const job{make_plan(opened->shared_impl(), {})};
    work = collect_work({&job, 1}, DeviceMethod::raw);
    work.device_tiles = work.tiles.size();
    plan = plan_batches(work, {.method = DeviceMethod::raw, .budget_bytes = 1 << 20, .chunk_bytes = 1000});
  }
};

TEST(TileFetcher, ReadsThePiecesOfEveryBatchIntoTheirPlaces) {
  Fixture fixture;
  TileFetcher const fetcher(fixture.work, DeviceMethod::raw, false, DeviceFetch::ring);
  for (Piece const& piece : fixture.plan.pieces) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(piece.bytes));
    fetcher.read(piece, bytes.data());
    for (std::size_t t = piece.first_tile; t < piece.first_tile + piece.tile_count; ++t) {
      WorkTile const& tile = fixture.work.tiles[t];
      std::vector<std::byte> expected(static_cast<std::size_t>(tile.size_bytes));
      tile.level->source->read(tile.offset_bytes, expected);
      std::size_t const at = static_cast<std::size_t>(tile.output_offset - piece.begin);
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at)));
    }
  }
}

TEST(TileFetcher, KvikioIsForLocalFilesAndSaysWhatIsMissing) {
  Fixture fixture;  // in memory
  try {
    TileFetcher const fetcher(fixture.work, DeviceMethod::raw, false, DeviceFetch::kvikio);
    FAIL() << "memory is no file";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
    EXPECT_NE(std::string(error.what()).find("kvikIO"), std::string::npos);
  }
}

TEST(TileFetcher, DecodersThatReadTheHostsMemoryNeedNoKvikio) {
  Fixture fixture;
  EXPECT_NO_THROW(TileFetcher(fixture.work, DeviceMethod::jpeg, true, DeviceFetch::kvikio));
}

}  // namespace
}  // namespace terrazzo::reading
