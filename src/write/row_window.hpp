// SPDX-License-Identifier: Apache-2.0
//
// Rows of one level that wait: to be cut into blocks, or to be reduced to the next level. New rows come at the end, old
// ones go at the front; memory grows to the most that ever waited and is reused. The memory is an engine's.
#pragma once

#include "write/file_plan.hpp"
#include "write/reduce.hpp"
#include "write/row_engine.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace terrazzo::writing {

class RowWindow {
 public:
  // Memory is taken for at least `room` rows at a time, of `kind`.
  RowWindow(FilePlan const& plan, RowMemory& memory, Memory kind, std::uint32_t width, std::uint32_t room);

  [[nodiscard]] std::uint32_t first() const noexcept { return first_; }
  [[nodiscard]] std::uint32_t end() const noexcept { return first_ + count_; }
  // Pixels lie as in the file: bands of a pixel together, or planes apart.
  [[nodiscard]] LevelRows rows() const noexcept { return part(first_, end()); }

  // Room for rows [end, end + count), to be filled by the caller. Earlier views are no longer good.
  [[nodiscard]] LevelRows append(std::uint32_t count);
  // The same, filled from rows of the same level and width.
  void append(LevelRows const& from, std::uint32_t first, std::uint32_t last);

  void drop_before(std::uint32_t row);
  // Empty, the next row being `row`.
  void restart(std::uint32_t row) noexcept {
    first_ = row;
    start_ = count_ = 0;
  }

 private:
  [[nodiscard]] LevelRows part(std::uint32_t first, std::uint32_t last) const noexcept;
  [[nodiscard]] std::size_t plane_bytes(std::uint32_t capacity) const noexcept { return row_bytes_ * capacity; }
  [[nodiscard]] std::size_t mask_offset(std::uint32_t capacity) const noexcept {
    return plane_bytes(capacity) * planes_;
  }
  void move_rows(std::byte* to, std::uint32_t to_capacity) const;

  RowMemory& memory_;
  Memory kind_;
  std::uint32_t width_, room_, bands_, planes_;
  DType dtype_;
  bool mask_;
  std::size_t sample_bytes_, row_bytes_;  // of a plane
  std::uint32_t first_ = 0, count_ = 0, capacity_ = 0;
  std::uint32_t start_ = 0;  // where the first row lies: rows before it are gone, and move when room is needed
  std::shared_ptr<std::byte> data_{};
};

}  // namespace terrazzo::writing
