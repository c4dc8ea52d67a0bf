// SPDX-License-Identifier: Apache-2.0
//
// Jobs that no public call makes yet: of different sizes, levels and target sizes in one result. read_windows_test.cpp
// has the rest. Also run under ThreadSanitizer.
#include "read/host/shared_read.hpp"

#include "read/images.hpp"
#include "read/result_coverage.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace terrazzo::reading {
namespace {

// One band of bytes; the jobs' places lie side by side in rows of `kRow` bytes.
constexpr std::uint32_t kRow = 300, kRows = 64;

TEST(SharedRead, TakesJobsOfAnySizeAndOfTargetSizes) {
  bool const checked = checks_results();
  set_result_checks(true);
  for (std::uint16_t const compression : {kNone, kPackBits}) {
    Opened const opened(image<std::uint8_t>(
        {.width = 128, .height = 100, .tile_width = 32, .tile_height = 16, .compression = compression}));
    ReadRequest const requests[] = {{.window = Window{3, 4, 60, 50}},
                                    {.window = Window{10, 20, 40, 30}, .target_size = TargetSize{20, 64}},
                                    {.window = Window{10, 20, 40, 30}, .target_size = TargetSize{70, 7}},
                                    {.target_size = TargetSize{50, 40}},
                                    {.window = Window{127, 99, 1, 1}}};
    std::vector<std::uint8_t> memory(kRow * kRows, 0);
    HostView const result{memory.data(), DType::u8, 1, kRows, kRow, kRow * kRows, kRow, 1};
    std::vector<ReadJob> jobs;
    std::int64_t column = 0;
    for (ReadRequest const& request : requests) {
      jobs.push_back({make_plan(opened->shared_impl(), request), column});
      column += jobs.back().plan->out_width;
    }
    for (unsigned const threads : {1u, 3u}) {
      MemoryBudget budget(1 << 24);
      ReadReport report;
      ReadRequest const shared{.threads = threads};
      execute_shared(jobs, shared, result, budget, report);
      for (std::size_t j = 0; j < jobs.size(); ++j) {
        HostArray const alone = read(*opened, requests[j]);
        for (std::uint32_t r = 0; r < alone.height(); ++r) {
          ASSERT_EQ(std::memcmp(memory.data() + jobs[j].destination_offset_bytes + r * kRow,
                                alone.bytes().data() + std::size_t{r} * alone.width(), alone.width()),
                    0)
              << j << " row " << r;
        }
      }
    }
  }
  set_result_checks(checked);
}

}  // namespace
}  // namespace terrazzo::reading
