// SPDX-License-Identifier: Apache-2.0
//
// A check of the engines themselves: every pixel of a result is written, and once. A result is filled with a pattern
// before the read, and the engine counts what it writes; a pixel that a wrong plan or a skipped block leaves out ends
// the read with std::logic_error, where it would otherwise show what the memory held before. Counting finds a gap
// whatever the pixels are: a pattern alone cannot tell a gap from a pixel that happens to look like it.
#pragma once

#include "read/plan.hpp"
#include "terrazzo/read.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace terrazzo::reading {

// Whether reads are checked: true in builds with AddressSanitizer, or as the last call of set_result_checks() says.
[[nodiscard]] bool checks_results() noexcept;
void set_result_checks(bool on) noexcept;

// Fills the view's pixels, and no byte between them, with a pattern.
void poison(HostView const& view) noexcept;

class ResultCoverage {
 public:
  // The plan outlives this.
  explicit ResultCoverage(ReadPlan::Impl const& plan);

  // `columns` pixels of each of these rows of the result were written, from a block of `plane`. Thread-safe.
  void add(std::uint32_t plane, std::uint32_t first_row, std::uint32_t rows, std::uint64_t columns) noexcept;
  // Throws std::logic_error unless every pixel of every plane was written once.
  void check() const;

 private:
  [[nodiscard]] std::size_t place(std::size_t plane_index, std::uint32_t row) const noexcept;

  ReadPlan::Impl const& plan_;
  std::vector<std::atomic<std::uint64_t>> columns_;  // that were written, of each row of each plane
};

}  // namespace terrazzo::reading
