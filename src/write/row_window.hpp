// SPDX-License-Identifier: Apache-2.0
//
// Pending rows of one level: they will be cut into blocks, or reduced to the next level. New rows are appended, old
// ones are removed at the front; memory grows to the largest number of rows and is reused. The engine owns the memory.
#pragma once

#include "write/overviews/reduction.hpp"
#include "write/plan/file_plan.hpp"
#include "write/row_engine.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace terrazzo::writing {

template <MemoryKind kind>
class RowWindow {
 public:
  // Allocates memory for at least `room` rows at a time.
  RowWindow(FilePlan const& plan, RowMemory<kind>& memory, std::uint32_t width, std::uint32_t room);

  [[nodiscard]] std::uint32_t first() const noexcept { return first_; }
  [[nodiscard]] std::uint32_t end() const noexcept { return first_ + count_; }
  // Pixels are stored as in the file: bands of a pixel together, or planes apart.
  [[nodiscard]] Rows<kind> rows() const noexcept { return part(first_, end()); }

  // Room for rows [end, end + count), to be filled by the caller. Invalidates earlier views.
  [[nodiscard]] Rows<kind> append(std::uint32_t count);
  // Appends a copy of rows of the same level and width.
  template <MemoryKind source>
  void append(ConstRows<source> const& from, std::uint32_t first, std::uint32_t last) {
    Rows<kind> const to = append(last - first);
    if (last != first) { memory_.copy(rows_between(from, first, last), to); }
  }

  void drop_before(std::uint32_t row);
  // Empties the window; the next row is `row`.
  void restart(std::uint32_t row) noexcept {
    first_ = row;
    start_ = count_ = 0;
  }

 private:
  [[nodiscard]] Rows<kind> part(std::uint32_t first, std::uint32_t last) const noexcept;
  [[nodiscard]] std::size_t plane_bytes(std::uint32_t capacity) const noexcept { return row_bytes_ * capacity; }
  [[nodiscard]] std::size_t mask_offset(std::uint32_t capacity) const noexcept {
    return plane_bytes(capacity) * planes_;
  }
  void move_rows(std::byte* to, std::uint32_t to_capacity) const;

  RowMemory<kind>& memory_;
  std::uint32_t width_, room_, bands_, planes_;
  DType dtype_;
  bool mask_;
  std::size_t sample_bytes_, row_bytes_;  // sizes in a plane
  std::uint32_t first_ = 0, count_ = 0, capacity_ = 0;
  std::uint32_t start_ = 0;  // index of the first row in memory; the space before it is free
  std::shared_ptr<std::byte> data_{};
};

extern template class RowWindow<MemoryKind::host>;
extern template class RowWindow<MemoryKind::device>;

}  // namespace terrazzo::writing
