// SPDX-License-Identifier: Apache-2.0
//
// The source of a filtered read: rows of its window in the stored type, with the validity of their pixels, in memory
// for as long as rows of the result need them. Rows are read from top to bottom, in whole block rows where possible, so
// that a block is decoded once.
#pragma once

#include "base/memory_budget.hpp"
#include "read/plan/plan.hpp"
#include "terrazzo/read.hpp"
#include "tile/reduce/reduction.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace terrazzo::reading {

class SourceRows {
 public:
  // `window` is a part of the plan's window: all rows, some columns. `rows` is the number of rows in memory.
  SourceRows(ReadPlan::Impl const& plan, Window const& window, std::uint32_t rows, MemoryBudget& budget);

  // Bytes of a column of one row.
  [[nodiscard]] static std::uint64_t pixel_bytes(ReadPlan::Impl const& plan);

  // Drops rows above `first` and reads rows until all of [first, last) and as many more as fit are there. Rows count
  // from the window's first. REQUIRES: last - first <= rows; neither decreases from call to call.
  void provide(std::uint32_t first, std::uint32_t last, ReadRequest const& request, ReadReport& report);

  // The rows [first(), end()) are in memory.
  [[nodiscard]] std::uint32_t first() const noexcept { return first_; }
  [[nodiscard]] std::uint32_t end() const noexcept { return end_; }

  // The rows of the index-th requested band; with a mask if other pixels decide about its validity.
  [[nodiscard]] tile::ConstHostRows band(std::size_t index) const noexcept;
  // The place of the band's mask among all masks; nullopt if its values decide.
  [[nodiscard]] std::optional<std::size_t> mask_of(std::size_t index) const noexcept { return mask_of_band_[index]; }
  [[nodiscard]] bool has_masks() const noexcept { return !masks_.empty(); }

 private:
  struct Mask {
    bool is_alpha = false;
    std::uint32_t band = 0;  // of the mask image, from 1
  };

  void read_rows(std::uint32_t first, std::uint32_t last, ReadRequest const& request, ReadReport& report);
  void read_mask(std::size_t mask, Window const& part, HostView const& rows, ReadRequest const& request,
                 ReadReport& report);

  ReadPlan::Impl stored_;  // the plan of all rows in the stored type, with alpha as its last band if a mask needs it
  Window window_;
  LevelPtr mask_level_;  // null if there is none
  MemoryBudget& budget_;
  std::vector<Mask> masks_;
  std::vector<std::optional<std::size_t>> mask_of_band_;
  MemoryBudget::Reservation reservation_;
  std::optional<HostArray> pixels_, mask_rows_;
  std::uint32_t first_ = 0, end_ = 0;
};

}  // namespace terrazzo::reading
