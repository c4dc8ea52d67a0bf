// SPDX-License-Identifier: Apache-2.0
//
// Tasks and failures, progress, cancellation and the report. Also run under ThreadSanitizer.
#include "read/host/task_queue.hpp"

#include "read/host/read_context_fixture.hpp"
#include "read/images.hpp"
#include "read/small_tiles.hpp"
#include "support/sources.hpp"
#include "support/temp_folder.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <stdexcept>

namespace terrazzo::reading {
namespace {

using test::PlannedRead;
using test::tiles;

// ---------------------------------------------------------------------------------------------------------------
// Tasks and failures

TEST(ReadTasks, AreGivenOutOnceAndInOrder) {
  PlannedRead const planned(
      {.width = 640, .height = 80, .tile_width = 16, .tile_height = 16, .compression = kPackBits});
  TaskQueue job(planned.read);
  std::uint64_t next = 0;
  while (auto const tasks = job.take()) {
    EXPECT_EQ(tasks->first, next);
    EXPECT_LE(tasks->count, planned.read.tasks_at_once);
    next += tasks->count;
  }
  EXPECT_EQ(next, 200u);
}

TEST(ReadTasks, AfterAFailureAreThoseBeforeIt) {
  PlannedRead const planned({.width = 4, .height = 40, .rows_per_strip = 1});
  TaskQueue job(planned.read);
  ReadReport report;
  job.fail(3, Error(ErrorKind::malformed, "the fourth"));
  job.fail(1, Error(ErrorKind::io, "the second"));
  job.fail(2, Error(ErrorKind::limit, "the third"));
  EXPECT_TRUE(job.take().has_value());
  EXPECT_TRUE(job.take().has_value());
  EXPECT_FALSE(job.take().has_value());
  EXPECT_EQ(failure_of([&] { job.finish(report); }).message(), "the second");
  TaskQueue stopped(planned.read);
  stopped.stop();
  EXPECT_FALSE(stopped.take().has_value());
}

TEST(ReadTasks, ReportBadBlocksInTheirOrder) {
  PlannedRead const planned({.width = 4, .height = 40, .rows_per_strip = 1});
  TaskQueue job(planned.read);
  BadTileReport const second{.tile = {.row = 1}, .kind = ErrorKind::malformed, .message = "short"};
  BadTileReport const fifth{.tile = {.row = 4}, .kind = ErrorKind::malformed, .message = "short"};
  job.add({.tiles = 3, .bad_tiles = {fifth}});
  job.add({.tiles = 4, .bytes_read = 16, .bad_tiles = {second}});
  ReadReport report;
  report.tiles = 100;
  job.finish(report);
  EXPECT_EQ(report.tiles, 107u);
  EXPECT_EQ(report.bytes_read, 16u);
  ASSERT_EQ(report.bad_tiles.size(), 2u);
  EXPECT_EQ(report.bad_tiles[0].tile.row, 1u);
  EXPECT_EQ(report.bad_tiles[1].tile.row, 4u);
}

// ---------------------------------------------------------------------------------------------------------------
// Progress and cancellation

TEST(ReadProgress, GrowsToTheNumberOfTilesOneCallAtATime) {
  Opened const opened(image<std::uint8_t>(
      {.width = 640, .height = 640, .tile_width = 16, .tile_height = 16, .compression = kPackBits}));
  for (unsigned const threads : {1u, 4u}) {
    std::atomic<int> inside{0};
    std::uint64_t last = 0;
    ReadRequest request{.threads = threads};
    request.progress = [&](std::uint64_t done, std::uint64_t total) {
      EXPECT_EQ(++inside, 1) << "two calls at once";
      EXPECT_EQ(total, 1600u);
      EXPECT_LE(done, total);
      EXPECT_GE(done, last);
      last = done;
      --inside;
      return true;
    };
    static_cast<void>(read(*opened, request));
    EXPECT_EQ(last, 1600u);
  }
}

TEST(ReadProgress, CountsTilesAlsoWhenTheyAreReadInPieces) {
  Opened const opened(image<std::uint8_t>({.width = 1000, .height = 3000}));
  std::set<std::uint64_t> totals;
  ReadRequest request{.threads = 2};
  request.progress = [&](std::uint64_t done, std::uint64_t total) {
    totals.insert(total);
    EXPECT_LE(done, 1u);
    return true;
  };
  static_cast<void>(read(*opened, request));
  EXPECT_EQ(totals, (std::set<std::uint64_t>{1}));
}

TEST(ReadProgress, CancelsWhenItSaysNo) {
  Opened const opened(image<std::uint8_t>(
      {.width = 640, .height = 640, .tile_width = 16, .tile_height = 16, .compression = kPackBits}));
  for (unsigned const threads : {1u, 4u}) {
    int calls = 0;
    ReadRequest request{.threads = threads};
    request.progress = [&](std::uint64_t, std::uint64_t) { return ++calls < 3; };
    Error const error = failure_of([&] { static_cast<void>(read(*opened, request)); });
    EXPECT_EQ(error.kind(), ErrorKind::cancelled);
    EXPECT_LT(calls, 25) << "it stops soon";
  }
}

TEST(ReadProgress, PassesItsOwnExceptionOn) {
  Opened const opened(image<std::uint8_t>(tiles()));
  ReadRequest request{.threads = 3};
  request.progress = [](std::uint64_t, std::uint64_t) -> bool { throw std::runtime_error("the caller's"); };
  EXPECT_THROW(static_cast<void>(read(*opened, request)), std::runtime_error);
  EXPECT_NO_THROW(static_cast<void>(read(*opened)));
}

struct CallersOwn : std::runtime_error {
  explicit CallersOwn(int n) : std::runtime_error("the caller's"), number(n) {}
  int number;
};

TEST(ReadProgress, ThatThrowsStopsTheOtherWorkersAndIsNotCalledAgain) {
  // 1,024 batches of 64 tiles, read through a source that counts.
  testing::TiffBuilder const builder = image<std::uint8_t>(
      {.width = 4096, .height = 4096, .tile_width = 16, .tile_height = 16, .compression = kPackBits});
  Opened const opened(builder);
  auto const source = std::make_shared<testing::CountingSource>(opened->shared_impl()->levels[0]->source);
  auto const chain = tiff::read_chain(source);
  std::vector<std::string> warnings;
  auto impl = std::make_shared<Dataset::Impl>(*opened->shared_impl());
  impl->levels[0] =
      std::make_shared<Level>(source, chain.directories[0], tiff::parse_image(chain.directories[0], warnings));
  Dataset const dataset(impl);
  int calls = 0;
  ReadRequest request{.threads = 4};
  request.progress = [&](std::uint64_t, std::uint64_t) -> bool { throw CallersOwn(++calls); };
  source->bytes = 0;
  try {
    static_cast<void>(read(dataset, request));
    ADD_FAILURE() << "it did not throw";
  } catch (CallersOwn const& error) { EXPECT_EQ(error.number, 1); }
  EXPECT_EQ(calls, 1);
  EXPECT_LT(source->bytes, builder.bytes().size() / 8) << "the others went on reading";
}

TEST(ReadCancel, StopsARead) {
  Opened const opened(image<std::uint8_t>(
      {.width = 640, .height = 640, .tile_width = 16, .tile_height = 16, .compression = kPackBits}));
  std::atomic<bool> cancel{true};
  for (unsigned const threads : {1u, 4u}) {
    Error const error = failure_of([&] { static_cast<void>(read(*opened, {.threads = threads, .cancel = &cancel})); });
    EXPECT_EQ(error.kind(), ErrorKind::cancelled);
  }
  cancel = false;
  EXPECT_NO_THROW(static_cast<void>(read(*opened, {.cancel = &cancel})));
}

// ---------------------------------------------------------------------------------------------------------------
// Reports

TEST(ReadReports, CountWhatWasDecodedAndFetched) {
  testing::TempFolder const folder;
  std::string const path = folder.write("a.tif", image<std::uint8_t>(tiles()).bytes());
  Dataset const dataset = open(path);
  ReadReport report;
  report.tiles = 77;  // a report is replaced, not added to
  static_cast<void>(read(dataset, {.window = Window{0, 0, 64, 32}}, &report));
  EXPECT_EQ(report.tiles, 8u);
  EXPECT_EQ(report.bytes_read, 8u * (256 + 2)) << "neighbours are one read, and nothing more";
  EXPECT_TRUE(report.bad_tiles.empty());
}

}  // namespace
}  // namespace terrazzo::reading
