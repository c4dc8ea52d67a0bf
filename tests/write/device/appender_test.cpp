// SPDX-License-Identifier: Apache-2.0
#include "write/device/appender.hpp"

#include "gpu/runtime/device_context.hpp"
#include "write/device_fixture.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace terrazzo::writing {
namespace {

// One raster of 40 blocks, launched in batches of ten into two slots.
class Appending : public OnDevice {
 protected:
  struct Work {
    explicit Work(Compression compression)
        : plan(plan_file(160, 640, with([&](WriteOptions& o) {
                           o.dtype = DType::f32;
                           o.tile_size = {64, 48};
                           o.compression = compression;
                         }))) {
      for (std::uint32_t y = 0; y < plan.levels.front().blocks_down; ++y) {
        for (std::uint32_t x = 0; x < plan.levels.front().blocks_across; ++x) { jobs.push_back({0, {x, y, 0}, &rows}); }
      }
    }
    Image image = make_image(DType::f32, 1, 640, 160);
    DeviceBytes device{image.bytes};
    FilePlan plan;
    ConstDeviceRows rows{0, on_device(image.view(), image.bytes, device), {}};
    std::vector<DeviceBlockJob> jobs{};
    gpu::StreamHandle stream = gpu::make_stream();
    gpu::EventHandle read = gpu::make_event();
    BlockBatches batches{plan, std::uint64_t{256} << 20, 10, gpu::pool_allocator(), stream.get()};
    std::array<BatchSlot, 2> slots{};

    ~Work() { (void)cudaStreamSynchronize(stream.get()); }  // the slots' memory goes to others

    void run(EmitBlocks const& emit, std::uint64_t piece_bytes = DeviceAppender::kPieceBytes) {
      DeviceAppender appender(plan, 3, batches, 0, emit, {}, piece_bytes);
      for (std::size_t first = 0, batch = 0; first < jobs.size(); first += 10, ++batch) {
        BatchSlot& slot = slots[batch % 2];
        appender.wait_for(slot);
        batches.launch(std::span(jobs).subspan(first, std::min<std::size_t>(10, jobs.size() - first)), slot,
                       read.get());
        appender.push(slot);
      }
      appender.drain();
    }
  };
};

TEST_F(Appending, EmitsEveryBlockInItsOrderWhoeverEncodesIt) {
  for (Compression const compression : {Compression::none, Compression::lerc, Compression::lzw}) {
    Work work(compression);
    std::vector<TileId> seen;
    std::uint64_t device_tiles = 0;
    work.run([&](std::span<FinishedBlock const> blocks) {
      for (FinishedBlock const& block : blocks) {
        seen.push_back(block.id);
        device_tiles += block.result.device_tiles;
        EXPECT_FALSE(block.result.image.empty());
      }
    });
    ASSERT_EQ(seen.size(), work.jobs.size());
    for (std::size_t i = 0; i < seen.size(); ++i) { EXPECT_EQ(seen[i], work.jobs[i].id); }
    EXPECT_EQ(device_tiles, compression == Compression::lerc ? 0U : seen.size()) << to_string(compression);
  }
}

// Batches that come back in more pieces than are held at a time: a slot is given to the next batch while the last
// pieces of this one are still on their way to the file.
TEST_F(Appending, LosesNothingWhenABatchComesBackInManyPieces) {
  Work work(Compression::none);
  std::vector<std::vector<std::byte>> whole, pieces;
  auto const keep = [](std::vector<std::vector<std::byte>>& into) {
    return [&into](std::span<FinishedBlock const> blocks) {
      for (FinishedBlock const& block : blocks) {
        into.emplace_back(block.result.image.begin(), block.result.image.end());
      }
    };
  };
  work.run(keep(whole));
  for (int round = 0; round < 20; ++round) {
    pieces.clear();
    work.run(keep(pieces), 20'000);
    ASSERT_TRUE(pieces == whole);
  }
}

TEST_F(Appending, ThrowsWhatTheReceiverThrowsAndStops) {
  Work work(Compression::none);
  int calls = 0;
  auto const refuse_the_third = [&](std::span<FinishedBlock const>) {
    if (++calls == 3) { throw std::runtime_error("full"); }
  };
  EXPECT_THROW(work.run(refuse_the_third), std::runtime_error);
  EXPECT_EQ(calls, 3);
}

}  // namespace
}  // namespace terrazzo::writing
