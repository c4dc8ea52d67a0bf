// SPDX-License-Identifier: Apache-2.0
#include "read/window_jobs.hpp"

#include "read/images.hpp"
#include "read/small_tiles.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace terrazzo::reading {
namespace {

using test::tiles;

TEST(PlanWindows, MakesAJobForEachWindowInOrder) {
  Opened const opened(image<std::uint8_t>(tiles()));
  std::vector<WindowOf> const windows{{*opened, {1, 2, 3, 4}}, {*opened, {5, 6, 3, 4}}};
  std::vector<ReadJob> jobs = plan_windows(windows, {});
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_EQ(jobs[1].plan->window, (Window{5, 6, 3, 4}));
  place_items(jobs, 12);
  EXPECT_EQ(jobs[1].destination_offset_bytes, 12);
}

TEST(PlanWindows, NamesTheWindowThatDoesNotFit) {
  Opened const opened(image<std::uint8_t>(tiles()));
  std::vector<WindowOf> const windows{{*opened, {1, 2, 3, 4}}, {*opened, {5, 6, 3, 5}}};
  Error const error = failure_of([&] { return plan_windows(windows, {}); });
  EXPECT_EQ(error.kind(), ErrorKind::usage);
  EXPECT_EQ(error.where().source, "memory.tif");
  EXPECT_NE(error.message().find("window (column 5, row 6, 3 x 5): "), std::string::npos) << error.message();
}

TEST(ItemCount, RefusesNoWindows) {
  EXPECT_EQ(failure_of([] { return item_count({}); }).kind(), ErrorKind::usage);
}

}  // namespace
}  // namespace terrazzo::reading
