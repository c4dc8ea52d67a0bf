// SPDX-License-Identifier: Apache-2.0
//
// Bytes that are already in memory, owned or borrowed.
#pragma once

#include "terrazzo/source.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace terrazzo::io {

class MemorySource final : public ByteSource {
 public:
  MemorySource(std::vector<std::byte> bytes, std::string name);
  // Borrows: the bytes must outlive the source and every dataset opened on it.
  MemorySource(std::span<std::byte const> bytes, std::string name);
  MemorySource(MemorySource const&) = delete;  // a copy's view would point to the original's bytes
  MemorySource& operator=(MemorySource const&) = delete;

  [[nodiscard]] std::string const& name() const noexcept override { return name_; }
  [[nodiscard]] std::uint64_t size_bytes() const noexcept override { return bytes_.size(); }
  [[nodiscard]] ReadTicket submit(std::span<RangeRead const> ranges) const override;
  // Untrusted: the bytes may come from anywhere.
  [[nodiscard]] SourceHints hints() const noexcept override { return {.local = true}; }
  [[nodiscard]] std::span<std::byte const> in_memory() const noexcept override { return bytes_; }

 private:
  std::vector<std::byte> owned_;
  std::span<std::byte const> bytes_;
  std::string name_;
};

}  // namespace terrazzo::io
