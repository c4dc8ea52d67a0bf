// SPDX-License-Identifier: Apache-2.0
//
// Who works on the rows of a file that is being written. The writer gathers rows, the cascade says which rows of which
// overview are due and which blocks are complete; an engine has the memory that rows lie in, makes overview rows, and
// cuts and encodes blocks. Two of them: the host's threads, and a GPU. A file's pixels, tags and layout are the same.
#pragma once

#include "write/assembly.hpp"
#include "write/block_encoder.hpp"
#include "write/file_plan.hpp"
#include "write/reduce.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

namespace terrazzo::writing {

// Where rows lie. Pointers of LevelRows are the engine's own unless a function says otherwise.
class RowMemory {
 public:
  RowMemory() = default;
  RowMemory(RowMemory const&) = delete;
  RowMemory& operator=(RowMemory const&) = delete;
  virtual ~RowMemory() = default;

  [[nodiscard]] virtual std::shared_ptr<std::byte> allocate(std::size_t bytes) = 0;
  // Pixels and mask of `from`, of any strides and in memory of either kind, to rows of the same number. The caller may
  // change `from` when this returns.
  virtual void copy(LevelRows const& from, LevelRows const& to) = 0;
  // Within memory of allocate(); the places may overlap.
  virtual void move(std::byte* to, std::byte const* from, std::size_t bytes) = 0;
};

// Rows of the raster that an engine wants at a time; whole block rows.
struct RowShare {
  std::uint32_t gathered = 0;  // copied together before work begins
  std::uint32_t at_once = 0;  // where the caller has them all: worked on where they lie. At least `gathered`
  std::uint32_t room = 0;  // overviews take memory for parts of so many rows at their first
};

struct FinishedBlock {
  std::size_t level = 0;
  TileId id{};
  BlockResult result{};
};

class RowEngine : public RowMemory {
 public:
  // Gets every block once, in the order of the jobs, one or more at a time, never from two threads at once. Their bytes
  // stay until it returns. What it throws ends the write.
  using Emit = std::function<void(std::span<FinishedBlock const>)>;
  // Gets the sizes of all blocks of the file, when an engine has them before the first is emitted. Most never do.
  using Announce = std::function<void(std::span<BlockSize const>)>;

  [[nodiscard]] virtual RowShare row_share() const = 0;
  [[nodiscard]] virtual Memory memory() const noexcept = 0;
  // Whether it can work on these rows where they lie; else they are copied first.
  [[nodiscard]] virtual bool reaches(LevelRows const& rows) const noexcept { return rows.memory == memory(); }
  // What the caller put on `stream` (null: nothing) is done before its rows are read.
  virtual void wait_for(void* stream) = 0;
  // Rows of level `level` out of rows of its source.
  virtual void reduce(std::size_t level, Reduction const& reduction, LevelRows const& source,
                      LevelRows const& result) = 0;
  // May return before the last blocks are emitted; rows that the jobs name stay until rows_are_free().
  virtual void encode(std::span<BlockJob const> jobs) = 0;
  // Returns when nothing reads the rows of the caller that lie in memory() any more.
  virtual void rows_are_free() = 0;
  // Returns when all blocks are emitted.
  virtual void finish() = 0;
};

}  // namespace terrazzo::writing
