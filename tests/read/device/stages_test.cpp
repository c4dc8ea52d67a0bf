// SPDX-License-Identifier: Apache-2.0
//
// Batches one after the other, without the pipeline's threads; pipeline_test.cpp has them overlap.
#include "read/device/stages.hpp"

#include "read/device/device_fixture.hpp"
#include "read/images.hpp"
#include "support/counting_allocator.hpp"
#include "support/device_bytes.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <set>

namespace terrazzo::reading {
namespace {

// 8 x 6 tiles of two bands; those of `bad` are cut in the middle, the last is not in the file.
testing::TiffBuilder tiles(std::uint16_t compression, std::set<std::uint64_t> const& bad = {}) {
  ImageSpec spec{
      .width = 125, .height = 90, .bands = 2, .tile_width = 16, .tile_height = 16, .compression = compression};
  spec.edit = [bad](std::uint64_t block, std::vector<std::byte>& bytes) {
    if (bad.contains(block)) { bytes.resize(bytes.size() / 2); }
    if (block == 47) { bytes.clear(); }
  };
  return image<std::uint16_t>(spec);
}

class DeviceStagesOnDevice : public test::OnDevice {
 protected:
  void TearDown() override { release_device_memory(); }

  // One read of the whole image in a budget that takes several batches; the pixels are in result_.
  std::vector<WorkTile> read_by_stages(Opened const& opened, DeviceMethod method) {
    ReadJob const job{make_plan(opened->shared_impl(), {})};
    result_.emplace(125 * 90 * 2 * 2);
    DeviceParameters const parameters{.context = gpu::current_context(),
                                      .jobs = {&job, 1},
                                      .method = method,
                                      .result = {.data = result_->data(),
                                                 .dtype = DType::u16,
                                                 .sample_bytes = 2,
                                                 .bands = 2,
                                                 .band_stride_bytes = 125 * 90 * 2,
                                                 .row_stride_bytes = 125 * 2,
                                                 .pixel_stride_bytes = 2,
                                                 .plain = true},
                                      .request = request_,
                                      .allocator = allocator_,
                                      .budget_bytes = 32 << 10,
                                      .host_budget = host_budget_,
                                      .returned = returned_};
    DeviceWork work = collect_work(parameters.jobs, method);
    DeviceStages stages(parameters, work, report_);
    batches_ = stages.plan().batches.size();
    std::size_t piece = 0;
    for (std::size_t b = 0; b < batches_; ++b) {
      stages.prepare(b);
      for (std::size_t i = 0; i < stages.plan().pieces_of_batch[b]; ++i) {
        stages.bring(stages.plan().pieces[piece++]);
      }
      stages.complete(b);
      stages.launch_decode(b);
      stages.launch_place(b);
      stages.settle(b);
    }
    return stages.finish();
  }

  std::shared_ptr<testing::CountingAllocator> allocator_ = std::make_shared<testing::CountingAllocator>();
  ReadRequest request_;
  MemoryBudget host_budget_{1 << 20};
  ReturnedTiles returned_{host_budget_};
  ReadReport report_;
  std::size_t batches_ = 0;
  std::optional<testing::DeviceBytes> result_;  // not before there is a device
};

TEST_F(DeviceStagesOnDevice, EqualTheHostBatchByBatch) {
  struct {
    std::uint16_t compression;
    DeviceMethod method;
  } const ways[] = {{kNone, DeviceMethod::raw}, {kPackBits, DeviceMethod::packbits}, {kPackBits, DeviceMethod::host}};
  for (auto const& way : ways) {
    SCOPED_TRACE(to_string(way.method));
    Opened const opened(tiles(way.compression));
    report_ = {};
    EXPECT_TRUE(read_by_stages(opened, way.method).empty());
    EXPECT_GT(batches_, 1u);
    EXPECT_EQ(report_.tiles, 47u);
    EXPECT_EQ(report_.sparse_tiles, 1u);
    HostArray const host = terrazzo::read(*opened);
    EXPECT_TRUE(std::ranges::equal(result_->back(), host.bytes()));
  }
}

TEST_F(DeviceStagesOnDevice, NameTheTilesTheyCouldNotDecodeAndBringThemBack) {
  Opened const opened(tiles(kPackBits, {3, 30}));
  std::vector<WorkTile> const failed = read_by_stages(opened, DeviceMethod::packbits);
  ASSERT_EQ(failed.size(), 2u);
  EXPECT_EQ(failed[0].block, 3u);
  EXPECT_EQ(failed[1].block, 30u);
  EXPECT_EQ(report_.tiles, 45u);
  LevelPtr const level = opened->shared_impl()->levels[0];
  EXPECT_NE(returned_.level_for(level), level) << "the host reads what came back";
}

}  // namespace
}  // namespace terrazzo::reading
