// SPDX-License-Identifier: Apache-2.0
#include "write/host/block_encoder.hpp"

#include "write/test_image.hpp"

#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>

namespace terrazzo::writing {
namespace {

struct Work {
  explicit Work(Image given, WriteOptions options = {}) : image(std::move(given)) {
    options.dtype = image.dtype;
    options.bands = image.bands;
    options.mask = !image.mask.empty();
    options.tile_size = {16, 16};
    plan = plan_file(image.width, image.height, options);
    rows = {0, image.view(), options.mask ? image.mask_view() : HostView{}};
    LevelPlan const& level = plan.levels[0];
    for (std::uint32_t plane = 0; plane < plan.planes; ++plane) {
      for (std::uint32_t y = 0; y < level.blocks_down; ++y) {
        for (std::uint32_t x = 0; x < level.blocks_across; ++x) { jobs.push_back({0, {x, y, plane}, &rows}); }
      }
    }
  }
  Work(Work const&) = delete;
  Work& operator=(Work const&) = delete;

  Image image;
  FilePlan plan{};
  ConstHostRows rows{};
  std::vector<HostBlockJob> jobs{};
};

TEST(BlockEncoder, HandsOverInTheOrderOfJobsAndNeverTwoAtATime) {
  Work work(make_image(DType::u16, 1, 300, 300));
  for (unsigned threads = 1; threads <= 5; ++threads) {
    BlockEncoder encoder(work.plan, threads);
    for (int round = 0; round < 3; ++round) {  // an encoder is good for many runs
      std::size_t next = 0;
      std::atomic<int> inside = 0;
      encoder.run(work.jobs, nullptr, [&](HostBlockJob const& job, BlockResult const& result) {
        EXPECT_EQ(++inside, 1);
        EXPECT_EQ(job.id, work.jobs[next].id);
        EXPECT_FALSE(result.image.empty());
        EXPECT_FALSE(result.has_mask);
        EXPECT_TRUE(result.moments.empty());
        ++next;
        --inside;
      });
      EXPECT_EQ(next, work.jobs.size());
    }
  }
}

TEST(BlockEncoder, DoesNothingWithoutJobs) {
  Work work(make_image(DType::u16, 1, 30, 30));
  BlockEncoder encoder(work.plan, 3);
  encoder.run({}, nullptr, [](HostBlockJob const&, BlockResult const&) { FAIL(); });
}

TEST(BlockEncoder, StopsWithWhatTheReceiverThrows) {
  Work work(make_image(DType::u16, 1, 300, 300));
  for (unsigned threads = 1; threads <= 5; ++threads) {
    BlockEncoder encoder(work.plan, threads);
    for (int const at : {0, 1, 10, 200}) {
      int calls = 0;
      auto const fail = [&] {
        encoder.run(work.jobs, nullptr, [&](HostBlockJob const&, BlockResult const&) {
          if (calls++ == at) { throw std::out_of_range("enough"); }
        });
      };
      EXPECT_THROW(fail(), std::out_of_range);
      EXPECT_EQ(calls, at + 1);
    }
  }
}

TEST(BlockEncoder, StopsWhenCancelled) {
  Work work(make_image(DType::u16, 1, 300, 300));
  BlockEncoder encoder(work.plan, 3);
  std::atomic<bool> cancel = false;
  std::size_t calls = 0;
  try {
    encoder.run(work.jobs, &cancel, [&](HostBlockJob const&, BlockResult const&) {
      if (++calls == 5) { cancel = true; }
    });
    FAIL();
  } catch (Error const& error) { EXPECT_EQ(error.kind(), ErrorKind::cancelled); }
  EXPECT_LT(calls, work.jobs.size());
}

TEST(BlockEncoder, GivesMasksOncePerBlockAndMomentsOfEveryBand) {
  Image image = make_image(DType::u8, 3, 40, 40);
  add_mask(image);
  for (PlanarLayout const planar : {PlanarLayout::contiguous, PlanarLayout::separate}) {
    WriteOptions options;
    options.planar = planar;
    options.statistics = true;
    Work work(image, options);
    BlockEncoder encoder(work.plan, 2);
    std::size_t masks = 0, moments = 0;
    encoder.run(work.jobs, nullptr, [&](HostBlockJob const& job, BlockResult const& result) {
      EXPECT_EQ(result.has_mask, job.id.plane == 0);
      masks += result.has_mask ? 1 : 0;
      moments += result.moments.size();
    });
    EXPECT_EQ(masks, 9U);
    EXPECT_EQ(moments, 27U);
  }
}

TEST(BlockEncoder, LeavesOutBlocksWithoutDataOnlyInSparseFiles) {
  Image image = make_image(DType::u8, 1, 32, 32);
  image.mask.assign(1024, std::byte{0});
  for (std::uint32_t y = 0; y < 32; ++y) { std::fill_n(image.bytes.begin() + y * 32, 16, std::byte{0}); }
  std::fill(image.mask.begin() + 16 * 32, image.mask.end(), std::byte{255});
  for (bool const sparse : {false, true}) {
    WriteOptions options;
    options.sparse = sparse;
    Work work(image, options);
    BlockEncoder encoder(work.plan, 2);
    encoder.run(work.jobs, nullptr, [&](HostBlockJob const& job, BlockResult const& result) {
      EXPECT_EQ(result.image.empty(), sparse && job.id.column == 0);
      EXPECT_EQ(result.mask.empty(), sparse && job.id.row == 0);
      EXPECT_TRUE(result.has_mask);
    });
  }
}

}  // namespace
}  // namespace terrazzo::writing
