// SPDX-License-Identifier: Apache-2.0
//
// Makes a caller's source as safe as a file: name, size and hints are queried once, ranges past the end never reach the
// source, and every failure is an Error that names the source.
#pragma once

#include "terrazzo/source.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace terrazzo::reading {

class CheckedSource final : public ByteSource {
 public:
  // Throws `usage` for a null source, and `io` if the size of its bytes in memory differs from its stated size.
  explicit CheckedSource(ByteSourcePtr inner);

  [[nodiscard]] std::string const& name() const noexcept override { return name_; }
  [[nodiscard]] std::uint64_t size_bytes() const noexcept override { return size_bytes_; }
  [[nodiscard]] std::string identity() const override { return identity_; }
  [[nodiscard]] SourceHints hints() const noexcept override { return hints_; }
  [[nodiscard]] std::span<std::byte const> in_memory() const noexcept override { return memory_; }
  [[nodiscard]] ReadTicket submit(std::span<RangeRead const> ranges) const override;

 private:
  // Rethrows the exception in flight as an Error of this source.
  [[noreturn]] void fail() const;

  ByteSourcePtr inner_;
  std::string name_, identity_;
  std::uint64_t size_bytes_;
  SourceHints hints_;
  std::span<std::byte const> memory_;
};

// Returns our own sources unchanged, and wraps any other source in a CheckedSource.
[[nodiscard]] ByteSourcePtr checked(ByteSourcePtr source);

}  // namespace terrazzo::reading
