// SPDX-License-Identifier: Apache-2.0
//
// The host's engine: memory of the process, work on the pool of threads.
#pragma once

#include "write/row_engine.hpp"

namespace terrazzo::writing {

class HostRowMemory : public RowMemory {
 public:
  explicit HostRowMemory(unsigned threads) : threads_(threads) {}
  [[nodiscard]] std::shared_ptr<std::byte> allocate(std::size_t bytes) override;
  void copy(LevelRows const& from, LevelRows const& to) override;
  void move(std::byte* to, std::byte const* from, std::size_t bytes) override;

 private:
  unsigned threads_;
};

// Samples of `from` to `to`, one row of one band list: the step that host copies and uploads share. Band by band unless
// both have the bands of a pixel side by side.
void copy_row(HostView const& from, std::uint32_t from_row, HostView const& to, std::uint32_t to_row) noexcept;

// The plan outlives the engine.
[[nodiscard]] std::unique_ptr<RowEngine> make_host_engine(FilePlan const& plan, unsigned threads, RowEngine::Emit emit);

}  // namespace terrazzo::writing
