// SPDX-License-Identifier: Apache-2.0
//
// A reservation in a memory budget for a buffer that only grows.
#pragma once

#include "base/memory_budget.hpp"

#include <cstdint>

namespace terrazzo::reading {

class GrowingReservation {
 public:
  // `what` names the buffer in error texts; it outlives the reservation.
  GrowingReservation(MemoryBudget& budget, char const* what) noexcept : budget_(budget), what_(what) {}

  // Throws `limit` if the budget is exceeded, and then holds no bytes.
  void grow(std::uint64_t wanted_bytes) {
    if (wanted_bytes <= bytes_) { return; }
    held_ = {};
    bytes_ = 0;
    held_ = budget_.reserve(wanted_bytes, what_);
    bytes_ = wanted_bytes;
  }

 private:
  MemoryBudget& budget_;
  char const* what_;
  MemoryBudget::Reservation held_{};
  std::uint64_t bytes_ = 0;
};

}  // namespace terrazzo::reading
