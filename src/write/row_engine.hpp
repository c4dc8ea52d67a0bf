// SPDX-License-Identifier: Apache-2.0
//
// The engine that processes the rows of a new file. The writer gathers rows; the cascade determines which overview rows
// to make and which blocks are complete; the engine owns the memory of rows, makes overview rows, and cuts and encodes
// blocks. There are two engines: the host's threads, and a GPU. Both write the same pixels, tags and layout.
#pragma once

#include "write/block_job.hpp"
#include "write/layout/assembly.hpp"
#include "write/overviews/reduction.hpp"
#include "write/plan/file_plan.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

namespace terrazzo::writing {

// Memory for rows.
template <MemoryKind kind>
class RowMemory {
 public:
  RowMemory() = default;
  RowMemory(RowMemory const&) = delete;
  RowMemory& operator=(RowMemory const&) = delete;
  virtual ~RowMemory() = default;

  [[nodiscard]] virtual std::shared_ptr<std::byte> allocate(std::size_t bytes) = 0;
  // Copies pixels and mask of `from`, of any strides, to as many rows. On return, the caller may change `from`.
  virtual void copy(ConstHostRows const& from, Rows<kind> const& to) = 0;
  virtual void copy(ConstDeviceRows const& from, Rows<kind> const& to) = 0;
  // Moves bytes within memory of allocate(); the ranges may overlap.
  virtual void move(std::byte* to, std::byte const* from, std::size_t bytes) = 0;
};

// Rows of the raster that an engine takes at a time; whole block rows.
struct RowShare {
  std::uint32_t gathered = 0;  // copied together before work begins
  std::uint32_t at_once = 0;  // processed in place if the caller has all of them. At least `gathered`
  std::uint32_t room = 0;  // rows per part for which overviews allocate memory at first
};

struct FinishedBlock {
  std::size_t level = 0;
  TileId id{};
  BlockResult result{};
};

// Called for every block once, in the order of the jobs, with one or more blocks, from one thread at a time. Their
// bytes are valid until it returns. An exception ends the write.
using EmitBlocks = std::function<void(std::span<FinishedBlock const>)>;
// Called with the sizes of all blocks of the file, if an engine has them before the first is emitted. Few writes do.
using AnnounceSizes = std::function<void(std::span<BlockSize const>)>;

// An engine that works on rows in memory of one kind.
template <MemoryKind kind>
class RowEngine : public RowMemory<kind> {
 public:
  [[nodiscard]] virtual RowShare row_share() const = 0;
  // True if the engine can process these rows in place; otherwise they are copied first.
  [[nodiscard]] virtual bool reaches(ConstRows<kind> const&) const noexcept { return true; }
  // Orders work that the caller put on `stream` (null: none) before its rows are read.
  virtual void wait_for(StreamView stream) = 0;
  // Makes rows of level `level` from rows of its source.
  virtual void reduce(std::size_t level, Reduction const& reduction, ConstRows<kind> const& source,
                      Rows<kind> const& result) = 0;
  // May return before the last blocks are emitted; the rows of the jobs stay valid until rows_are_free().
  virtual void encode(std::span<BlockJob<kind> const> jobs) = 0;
  // Returns when the engine no longer reads the caller's rows in memory of this kind.
  virtual void rows_are_free() = 0;
  // Returns when all blocks are emitted.
  virtual void finish() = 0;
};

}  // namespace terrazzo::writing
