// SPDX-License-Identifier: Apache-2.0
//
// The rows of a filtered read's source that no block of the file covers. A file of a few bytes may declare billions of
// such pixels: their resampled value is known without reading them.
#pragma once

#include "read/plan/plan.hpp"
#include "terrazzo/read.hpp"

#include <cstdint>
#include <optional>

namespace terrazzo::reading {

class AbsentRows {
 public:
  // `window` is a part of the plan's window: all rows, some columns.
  AbsentRows(ReadPlan::Impl const& plan, Window const& window);

  // True if every pixel of the window's rows [first, last) is in an absent block. REQUIRES: first < last; neither
  // decreases from call to call.
  [[nodiscard]] bool cover(std::uint32_t first, std::uint32_t last);

  // The number of absent blocks under rows [first, last) that no earlier call counted. REQUIRES: cover(first, last).
  [[nodiscard]] std::uint64_t count(std::uint32_t first, std::uint32_t last);

 private:
  [[nodiscard]] std::uint32_t block_row(std::uint32_t row) const noexcept;
  [[nodiscard]] bool is_absent(std::uint32_t block_row) const;

  ReadPlan::Impl const& plan_;
  Window window_;
  std::uint32_t first_column_, columns_;  // of blocks
  // Results of earlier calls, in block rows of the level: [absent_from_, absent_end_) are absent, present_ is not.
  std::uint32_t absent_from_ = 0, absent_end_ = 0;
  std::optional<std::uint32_t> present_{};
  std::uint32_t counted_ = 0;  // block rows
};

}  // namespace terrazzo::reading
