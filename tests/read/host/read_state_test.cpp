// SPDX-License-Identifier: Apache-2.0
//
// What the workers of any read share; task_queue_test.cpp has it in a read of one job. Also run under ThreadSanitizer.
#include "read/host/read_state.hpp"

#include "support/failure.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>

namespace terrazzo::reading {
namespace {

using terrazzo::testing::failure_of;

std::string const kSource = "a.tif";

TEST(ReadState, ThrowsTheFailureOfTheLowestOrderAndWantsNothingAboveIt) {
  ReadRequest const request;
  ReadState state(request, kSource, 10);
  EXPECT_TRUE(state.is_wanted(9));
  state.fail(5, Error(ErrorKind::malformed, "fifth"));
  state.fail(7, Error(ErrorKind::malformed, "seventh"));
  state.fail(2, Error(ErrorKind::io, "second"));
  EXPECT_TRUE(state.is_wanted(1));
  EXPECT_TRUE(state.is_wanted(2));
  EXPECT_FALSE(state.is_wanted(3));
  ReadReport report;
  state.add({.tiles = 4});
  EXPECT_EQ(failure_of([&] {
              state.finish(report);
              return 0;
            }).message(),
            "second");
  EXPECT_EQ(report.tiles, 4u) << "a read that fails reports its work";
}

TEST(ReadState, TellsProgressForwardAndToTheEnd) {
  std::uint64_t last = 0;
  ReadRequest const request{.progress = [&](std::uint64_t done, std::uint64_t total) {
    EXPECT_EQ(total, 10u);
    EXPECT_GE(done, last);
    last = done;
    return true;
  }};
  ReadState state(request, kSource, 10);
  EXPECT_TRUE(state.tell_blocks(4));
  EXPECT_TRUE(state.tell_blocks(3));
  EXPECT_EQ(last, 4u);
  ReadReport report;
  state.finish(report);
  EXPECT_EQ(last, 10u);
}

TEST(ReadState, IsCancelledByEitherWay) {
  std::atomic<bool> cancel{true};
  ReadRequest const by_flag{.cancel = &cancel};
  ReadRequest const by_progress{.progress = [](std::uint64_t, std::uint64_t) { return false; }};
  for (ReadRequest const* const request : {&by_flag, &by_progress}) {
    ReadState state(*request, kSource, 10);
    EXPECT_FALSE(state.tell_blocks(1));
    EXPECT_TRUE(state.is_stopped());
    ReadReport report;
    Error const error = failure_of([&] {
      state.finish(report);
      return 0;
    });
    EXPECT_EQ(error.kind(), ErrorKind::cancelled);
    EXPECT_EQ(error.where().source, "a.tif");
  }
}

TEST(ReadState, StopsWhenTheProgressFunctionThrows) {
  ReadRequest const request{.progress = [](std::uint64_t, std::uint64_t) -> bool { throw std::runtime_error("no"); }};
  ReadState state(request, kSource, 10);
  EXPECT_THROW(state.tell_blocks(1), std::runtime_error);
  EXPECT_TRUE(state.is_stopped());
  EXPECT_FALSE(state.tell_blocks(2)) << "and the function is not called again";
}

}  // namespace
}  // namespace terrazzo::reading
