// SPDX-License-Identifier: Apache-2.0
//
// A limit on allocations whose size comes from a file or a request.
// Thread-safe: any thread may reserve and release.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace terrazzo {

class MemoryBudget {
 public:
  explicit MemoryBudget(std::uint64_t limit_bytes) noexcept : limit_bytes_(limit_bytes) {}
  MemoryBudget(MemoryBudget const&) = delete;
  MemoryBudget& operator=(MemoryBudget const&) = delete;

  // Releases its bytes on destruction.
  class Reservation {
   public:
    Reservation() = default;
    Reservation(MemoryBudget& budget, std::uint64_t bytes) noexcept : budget_(&budget), bytes_(bytes) {}
    Reservation(Reservation&& other) noexcept
        : budget_(std::exchange(other.budget_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
    Reservation& operator=(Reservation&& other) noexcept {
      std::swap(budget_, other.budget_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Reservation() {
      if (budget_ != nullptr) { budget_->used_bytes_.fetch_sub(bytes_, std::memory_order_relaxed); }
    }
    // Keeps the bytes reserved for the life of the budget.
    void keep() noexcept { budget_ = nullptr; }

   private:
    MemoryBudget* budget_ = nullptr;
    std::uint64_t bytes_ = 0;
  };

  // Returns nullopt if the budget is exceeded.
  [[nodiscard]] std::optional<Reservation> try_reserve(std::uint64_t bytes) noexcept;
  // Throws `limit` with the purpose, the size and the free amount. Call it before allocating.
  [[nodiscard]] Reservation reserve(std::uint64_t bytes, std::string_view what);
  // Like reserve(), for memory that is held for the life of the budget.
  void charge(std::uint64_t bytes, std::string_view what) { reserve(bytes, what).keep(); }

  [[nodiscard]] std::uint64_t limit_bytes() const noexcept { return limit_bytes_; }
  [[nodiscard]] std::uint64_t used_bytes() const noexcept { return used_bytes_.load(std::memory_order_relaxed); }

 private:
  std::uint64_t const limit_bytes_;
  std::atomic<std::uint64_t> used_bytes_{0};
};

}  // namespace terrazzo
