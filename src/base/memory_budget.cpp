// SPDX-License-Identifier: Apache-2.0
#include "base/memory_budget.hpp"

#include "base/text.hpp"
#include "terrazzo/error.hpp"

namespace terrazzo {

std::optional<MemoryBudget::Reservation> MemoryBudget::try_reserve(std::uint64_t bytes) noexcept {
  std::uint64_t used = used_bytes_.load(std::memory_order_relaxed);
  while (bytes <= limit_bytes_ - used) {
    if (used_bytes_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed)) {
      return Reservation(*this, bytes);
    }
  }
  return std::nullopt;
}

MemoryBudget::Reservation MemoryBudget::reserve(std::uint64_t bytes, std::string_view what) {
  if (std::optional<Reservation> reservation = try_reserve(bytes)) { return *std::move(reservation); }
  throw Error(ErrorKind::limit,
              text(bytes, " bytes of memory for ", what, " are above the memory limit: ", limit_bytes_ - used_bytes(),
                   " of its ", limit_bytes_, " bytes are free (memory_limit_bytes, TERRAZZO_MEMORY_LIMIT)"));
}

}  // namespace terrazzo
