// SPDX-License-Identifier: Apache-2.0
#include "write/device/block_batches.hpp"

#include "gpu/runtime/device_context.hpp"
#include "write/device_fixture.hpp"

#include "support/counting_allocator.hpp"
#include "write/host/block_cutter.hpp"

#include <gtest/gtest.h>

namespace terrazzo::writing {
namespace {

constexpr std::uint64_t kBudget = std::uint64_t{256} << 20;

class BlockBatchesOnDevice : public OnDevice {};

// All blocks of a raster without overviews, cut on the device and brought back as they are.
TEST_F(BlockBatchesOnDevice, HoldsWhatTheHostCuts) {
  for (DType const dtype : {DType::u8, DType::i16, DType::f32, DType::f64}) {
    for (std::uint32_t const bands : {1U, 3U}) {
      for (PlanarLayout const planar : {PlanarLayout::contiguous, PlanarLayout::separate}) {
        Image image = make_image(dtype, bands, 150, 101);
        WriteOptions options = with([&](WriteOptions& o) {
          o.dtype = dtype;
          o.bands = bands;
          o.planar = planar;
          o.compression = Compression::lz4;  // the host's; it takes a predictor
        });
        FilePlan const plan = plan_file(image.width, image.height, options);
        DeviceBytes const device(image.bytes);
        ConstHostRows const on_host{0, image.view(), {}};
        ConstDeviceRows const rows{0, on_device(image.view(), image.bytes, device), {}};
        std::vector<DeviceBlockJob> jobs;
        LevelPlan const& level = plan.levels.front();
        for (std::uint32_t plane = 0; plane < plan.planes; ++plane) {
          for (std::uint32_t y = 0; y < level.blocks_down; ++y) {
            for (std::uint32_t x = 0; x < level.blocks_across; ++x) { jobs.push_back({0, {x, y, plane}, &rows}); }
          }
        }
        gpu::StreamHandle const stream = gpu::make_stream();
        gpu::EventHandle const read = gpu::make_event();
        BlockBatches batches(plan, kBudget, static_cast<std::uint32_t>(jobs.size()), gpu::pool_allocator(),
                             stream.get());
        BatchSlot slot;
        batches.launch(jobs, slot, read.get());
        PackedBatch const batch = batches.packed(slot);
        ASSERT_EQ(batch.groups.size(), 1U);
        ASSERT_EQ(batch.groups[0].places.size(), jobs.size());
        BlockCutter const cutter(plan);
        CutScratch scratch;
        for (std::size_t i = 0; i < jobs.size(); ++i) {
          CutBlock const expected = cutter.cut(level, on_host, jobs[i].id, false, scratch);
          gpu::PackedTile const& place = batch.groups[0].places[i];
          EXPECT_EQ(place.status, tile::TileStatus::unsupported) << "the host's to encode";
          ASSERT_EQ(place.size, expected.encoded_input.size());
          std::vector<std::byte> bytes(place.size);
          gpu::check_cuda(
              cudaMemcpy(bytes.data(), batch.groups[0].device_bytes + place.offset, place.size, cudaMemcpyDeviceToHost),
              "downloading");
          EXPECT_TRUE(std::ranges::equal(bytes, expected.encoded_input)) << to_string(dtype) << ", block " << i;
        }
      }
    }
  }
}

TEST_F(BlockBatchesOnDevice, CostsWhatItAllocates) {
  Image image = make_image(DType::f32, 1, 400, 500);
  DeviceBytes const device(image.bytes);
  ConstDeviceRows const rows{0, on_device(image.view(), image.bytes, device), {}};
  std::vector<DeviceBlockJob> const jobs{{0, {0, 0, 0}, &rows}, {0, {1, 0, 0}, &rows}};
  for (Compression const compression : {Compression::none, Compression::lzw, Compression::packbits,
                                        Compression::deflate, Compression::zstd, Compression::lerc}) {
    SCOPED_TRACE(to_string(compression));
    FilePlan const plan = plan_file(500, 400, with([&](WriteOptions& o) {
                                      o.dtype = DType::f32;
                                      o.compression = compression;
                                      o.statistics = true;
                                    }));
    BatchCost const cost = BlockBatches::cost(plan, kBudget);
    EXPECT_LT(cost.device_bytes(1, 2), cost.device_bytes(10, 2));
    EXPECT_GE(cost.useful_bytes, std::uint64_t{1} << 20);
    gpu::StreamHandle const stream = gpu::make_stream();
    gpu::EventHandle const read = gpu::make_event();
    auto const allocator = std::make_shared<terrazzo::testing::CountingAllocator>();
    BlockBatches batches(plan, kBudget, 10, allocator, stream.get());
    std::array<BatchSlot, 2> slots{};
    for (BatchSlot& slot : slots) {
      batches.launch(jobs, slot, read.get());
      EXPECT_EQ(batches.packed(slot).moments.size(), 2U);
    }
    EXPECT_EQ(allocator->peak_bytes, cost.device_bytes(10, 2));
  }
}

}  // namespace
}  // namespace terrazzo::writing
