// SPDX-License-Identifier: Apache-2.0
//
// Bytes that wait until their offset in a file is known: appended one after another, copied to their offset at the end.
// They wait in memory up to the shared quota, then in the sink itself (to be moved by insert_front()), or in an
// unnamed file. The sink gets the same bytes in each case.
//
// A spool that waits in the sink uses it alone: nothing else may be written there before its place() is called.
// The others are placed in any order, unless the sink is append-only.
//
// Thread rule: one thread at a time, all spools of one write together.
#pragma once

#include "terrazzo/sink.hpp"
#include "terrazzo/write.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace terrazzo::io {

// Shared memory of all spools of one write.
struct SpoolQuota {
  std::uint64_t limit_bytes = 0;
  std::uint64_t used_bytes = 0;
};

class Spool {
 public:
  // REQUIRES: an open sink; sink and quota outlive the spool. `in_place`: this spool may use the sink, from offset 0;
  // at most one spool of a write. SpoolWay::in_place forces that from the first byte on, and throws
  // `unsupported` if the sink cannot do it; other spools then behave as with `automatic`.
  Spool(ByteSink& sink, SpoolQuota& quota, SpoolWay way, bool in_place);
  ~Spool();
  Spool(Spool&&) noexcept;

  // Returns the offset of the first byte in this spool.
  std::uint64_t append(std::span<std::byte const> bytes);

  [[nodiscard]] std::uint64_t size_bytes() const noexcept;
  // The way in use: memory, in_place or unnamed_file.
  [[nodiscard]] SpoolWay way() const noexcept;

  // Writes all bytes at `offset_bytes` of the sink, in large writes, and frees them: the spool is empty afterwards
  // and accepts no more. A spool in the sink is moved if the offset allows it (a multiple of the sink's
  // insert_unit_bytes()), else copied through memory. Append-only sinks get the bytes at their end.
  void place(std::uint64_t offset_bytes);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace terrazzo::io
