// SPDX-License-Identifier: Apache-2.0
#include "read/result_coverage.hpp"

#include "read/host/engine.hpp"
#include "read/host/read_context_fixture.hpp"
#include "read/host/task_queue.hpp"
#include "read/host/worker.hpp"
#include "read/jpeg_image.hpp"
#include "read/with_cache.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <stdexcept>
#include <vector>

namespace terrazzo::reading {
namespace {

using test::PlannedRead;

// Turns the checks on for a test.
class ChecksResults : public test::WithCache {
 protected:
  ChecksResults() : before_(checks_results()) { set_result_checks(true); }
  ~ChecksResults() override { set_result_checks(before_); }

 private:
  bool before_;
};

TEST(Poison, ReachesThePixelsAndNothingBetweenThem) {
  std::vector<std::uint8_t> memory(64, 1);
  poison(HostView{memory.data(), DType::u16, 2, 2, 3, 4, 20, 6});  // two bands, six bytes a pixel, rows 20 bytes apart
  std::vector<std::uint8_t> expected(64, 1);
  for (int band : {0, 4}) {
    for (int row : {0, 20}) {
      for (int pixel : {0, 6, 12}) { std::memset(expected.data() + band + row + pixel, 0xA5, 2); }
    }
  }
  EXPECT_EQ(memory, expected);
}

TEST(ResultCoverage, WantsEveryPixelOfEveryPlaneOnce) {
  PlannedRead const planned(
      {.width = 20, .height = 3, .bands = 2, .tile_width = 16, .tile_height = 16, .separate = true});
  auto const of = [&](std::vector<std::uint64_t> const& columns_of_last_row) {
    ResultCoverage coverage(*planned.plan);
    coverage.add(0, 0, 3, 16);
    coverage.add(0, 0, 3, 4);
    coverage.add(1, 0, 2, 20);
    for (std::uint64_t const columns : columns_of_last_row) { coverage.add(1, 2, 1, columns); }
    coverage.check();
  };
  EXPECT_NO_THROW(of({16, 4}));
  EXPECT_THROW(of({16}), std::logic_error);
  EXPECT_THROW(of({}), std::logic_error);
  EXPECT_THROW(of({16, 4, 4}), std::logic_error) << "written twice";
}

// Each kind of block takes another way to the result.
TEST_F(ChecksResults, OfReadsOfAllKindsFindNothing) {
  ImageSpec const kinds[] = {
      {.width = 70, .height = 50, .bands = 2, .tile_width = 16, .tile_height = 16, .compression = kPackBits},
      {.width = 70, .height = 50, .bands = 3, .tile_width = 32, .tile_height = 16, .separate = true},
      {.width = 70, .height = 50, .bands = 1, .rows_per_strip = 7},
      {.width = 9000, .height = 40, .bands = 1, .rows_per_strip = 16},
      {.width = 40000, .height = 40, .bands = 1, .tile_width = 32768 + 16, .tile_height = 16}};
  for (ImageSpec spec : kinds) {
    for (bool const has_gaps : {false, true}) {
      spec.edit = [has_gaps](std::uint64_t block, std::vector<std::byte>& bytes) {
        if (has_gaps && block % 3 == 1) { bytes.clear(); }
        if (has_gaps && block % 5 == 2) { bytes.resize(bytes.size() / 2); }
      };
      Opened const opened(image<std::uint8_t>(spec));
      Window const part{3, 2, 60, 40 - 9};
      for (unsigned const threads : {1u, 3u}) {
        ReadRequest const base{.bad_tile = BadTile::fill, .threads = threads};
        std::vector<ReadRequest> requests(6, base);
        requests[1].window = requests[2].window = part;  // the second of them from the cache
        requests[3].target_size = TargetSize{11, 7};
        requests[4].target_size = TargetSize{130, 190};
        requests[5].dtype = DType::f32;
        requests[5].bands = {1, 1};
        for (ReadRequest const& request : requests) {
          EXPECT_NO_THROW(static_cast<void>(read(*opened, request))) << spec.width << " " << has_gaps;
        }
      }
    }
  }
}

TEST_F(ChecksResults, OfLargeResultsFindNothing) {
  for (std::uint32_t const tile : {512u, 4096u}) {
    Opened const opened(image<float>({.width = 3000, .height = 3000, .tile_width = tile, .tile_height = tile}));
    EXPECT_NO_THROW(static_cast<void>(read(*opened, {.threads = 2}))) << "past the caches, blocks side by side";
    EXPECT_NO_THROW(static_cast<void>(read(*opened, {.window = Window{100, 1, 2900, 2999}, .threads = 2})));
  }
}

// What the check is for: a task that nobody does.
TEST_F(ChecksResults, FindABlockThatIsSkipped) {
  for (std::uint16_t const compression : {kNone, kPackBits}) {
    PlannedRead const planned({.width = 300, .height = 1000, .rows_per_strip = 1000 / 4, .compression = compression},
                              {.threads = 1});
    for (bool const skips : {false, true}) {
      ResultCoverage coverage(*planned.plan);
      ReadContext const read(*planned.plan, planned.request, planned.view, planned.read.budget, &coverage);
      TaskQueue job(read);
      if (skips) { ASSERT_TRUE(job.take().has_value()); }
      HostWorker(read, job).work();
      ReadReport report;
      job.finish(report);  // and nothing else is wrong with the read
      if (skips) {
        EXPECT_THROW(coverage.check(), std::logic_error);
      } else {
        EXPECT_NO_THROW(coverage.check());
      }
    }
  }
}

TEST_F(ChecksResults, FindAPlanOfTooFewBlocks) {
  PlannedRead planned({.width = 64, .height = 64, .tile_width = 16, .tile_height = 16, .compression = kPackBits});
  ReadPlan::Impl wrong = *planned.plan;
  wrong.block_rows = 3;
  ReadReport report;
  ReadJob const job{std::make_shared<ReadPlan::Impl const>(wrong)};
  HostEngine engine(planned.request, planned.view, planned.budget);
  EXPECT_THROW(engine.execute({&job, 1}, report), std::logic_error);
  EXPECT_EQ(planned.memory.back(), 0xA5) << "poisoned, not what was there before";
  set_result_checks(false);
  EXPECT_NO_THROW(engine.execute({&job, 1}, report));
}

}  // namespace
}  // namespace terrazzo::reading
