// SPDX-License-Identifier: Apache-2.0
#include "base/memory_budget.hpp"

#include "base/text.hpp"
#include "terrazzo/error.hpp"

namespace terrazzo {

MemoryBudget::Reservation MemoryBudget::reserve(std::uint64_t bytes, std::string_view what) {
  std::uint64_t used = used_bytes_.load(std::memory_order_relaxed);
  while (true) {
    std::uint64_t const free = limit_bytes_ - used;
    if (bytes > free) {
      throw Error(ErrorKind::limit, text(what, " needs ", bytes, " bytes of memory, and ", free, " of the limit of ",
                                         limit_bytes_, " are free (memory_limit_bytes, TERRAZZO_MEMORY_LIMIT)"));
    }
    if (used_bytes_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed)) {
      return Reservation(*this, bytes);
    }
  }
}

}  // namespace terrazzo
