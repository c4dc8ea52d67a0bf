// SPDX-License-Identifier: Apache-2.0
//
// Bytes that wait for their place in a file: appended one after another, copied to their place at the end. They wait in
// memory as long as the shared quota lasts, then in the sink itself (to be moved up by insert_front()), or in an
// unnamed file. What arrives in the sink is the same whatever the way.
//
// A spool that waits in place has the sink for itself: nothing else may be written there before its place() is called.
// The others are placed in any order, unless the sink only appends.
//
// Thread rule: one thread at a time, all spools of one write together.
#pragma once

#include "base/byte_sink.hpp"
#include "terrazzo/write.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace terrazzo::io {

// Memory of all spools of one write together.
struct SpoolQuota {
  std::uint64_t limit_bytes = 0;
  std::uint64_t used_bytes = 0;
};

class Spool {
 public:
  // The sink is open; sink and quota outlive the spool. `in_place`: this spool may use the sink itself, from offset 0;
  // one spool of a write at most. SpoolWay::in_place means that one only, from its first byte on, and is an
  // `unsupported` error here when the sink cannot do it; other spools then do as for `automatic`.
  Spool(ByteSink& sink, SpoolQuota& quota, SpoolWay way, bool in_place);
  ~Spool();
  Spool(Spool&&) noexcept;

  // Returns the offset of the first of them in this spool.
  std::uint64_t append(std::span<std::byte const> bytes);

  [[nodiscard]] std::uint64_t size_bytes() const noexcept;
  // What it came to: memory, in_place or unnamed_file.
  [[nodiscard]] SpoolWay way() const noexcept;

  // Puts all bytes at `offset_bytes` of the sink, in large writes, and lets go of them: the spool is empty afterwards
  // and takes no more. A spool that waits in place is moved up if the offset allows it (a multiple of the sink's
  // insert_unit_bytes()), else copied by way of memory. Sinks that only append get it at their end.
  void place(std::uint64_t offset_bytes);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace terrazzo::io
