// SPDX-License-Identifier: Apache-2.0
//
// A check of the engines: every pixel of a result is written exactly once. A result is filled with a pattern before the
// read, and the engine counts the pixels that it writes. A pixel omitted by a wrong plan or a skipped block ends the
// read with std::logic_error; without the check it would show old memory. Counting finds every gap; a pattern alone
// cannot distinguish a gap from a pixel that happens to equal the pattern.
#pragma once

#include "read/plan/plan.hpp"
#include "terrazzo/read.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace terrazzo::reading {

// True if reads are checked: the default in builds with AddressSanitizer, or the last value of set_result_checks().
[[nodiscard]] bool checks_results() noexcept;
void set_result_checks(bool on) noexcept;

// Fills the view's pixels with a pattern; leaves the bytes between them unchanged.
void poison(HostView const& view) noexcept;

class ResultCoverage {
 public:
  // The plan outlives this object.
  explicit ResultCoverage(ReadPlan::Impl const& plan);

  // Counts `columns` written pixels in each of these rows of the result, from a block of `plane`. Thread-safe.
  void add(std::uint32_t plane, std::uint32_t first_row, std::uint32_t rows, std::uint64_t columns) noexcept;
  // Throws std::logic_error unless every pixel of every plane was written exactly once.
  void check() const;

 private:
  [[nodiscard]] std::size_t place(std::size_t plane_index, std::uint32_t row) const noexcept;

  ReadPlan::Impl const& plan_;
  std::vector<std::atomic<std::uint64_t>> columns_;  // written columns, for each row of each plane
};

}  // namespace terrazzo::reading
