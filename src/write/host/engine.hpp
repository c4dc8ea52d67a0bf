// SPDX-License-Identifier: Apache-2.0
//
// The host engine: rows in host memory, work on the pool of threads.
#pragma once

#include "base/memory_budget.hpp"
#include "write/host/waiting_blocks.hpp"
#include "write/row_engine.hpp"

namespace terrazzo::writing {

class HostRowMemory : public RowMemory<MemoryKind::host> {
 public:
  // A budget outlives this object and its memory.
  explicit HostRowMemory(unsigned threads, MemoryBudget* budget = nullptr) : threads_(threads), budget_(budget) {}
  // Throws `limit` if the budget is exceeded.
  [[nodiscard]] std::shared_ptr<std::byte> allocate(std::size_t bytes) override;
  void copy(ConstHostRows const& from, HostRows const& to) override;
  void copy(ConstDeviceRows const& from, HostRows const& to) override;
  void move(std::byte* to, std::byte const* from, std::size_t bytes) override;

 private:
  unsigned threads_;
  MemoryBudget* budget_;
};

// Copies the samples of one row from `from` to `to`: the step that host copies and uploads share. Copies band by band
// unless both have interleaved bands.
void copy_row(ConstHostView const& from, std::uint32_t from_row, HostView const& to, std::uint32_t to_row) noexcept;

// The plan outlives the engine. `encoded`, if given, outlives it too and has the blocks of the raster: they are passed
// on, and only overviews are encoded.
[[nodiscard]] std::unique_ptr<RowEngine<MemoryKind::host>> make_host_engine(FilePlan const& plan, unsigned threads,
                                                                            EmitBlocks emit,
                                                                            WaitingBlocks const* encoded = nullptr);

}  // namespace terrazzo::writing
