// SPDX-License-Identifier: Apache-2.0
//
// The output of image libraries: memory that grows and keeps its contents. Never throws, because C code calls it.
#pragma once

#include "codec/registry/encoder.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>
#include <span>
#include <utility>

namespace terrazzo::codec {

class EncodeSink {
 public:
  // `expected_bytes` is an estimate that avoids reallocations.
  EncodeSink(EncodedBlock& block, std::size_t expected_bytes)
      : block_(block), room_(block.memory.get(expected_bytes)) {}

  // Returns false if memory is short. Bytes skipped by a write beyond the end are zero.
  [[nodiscard]] bool write(std::size_t at, std::span<std::byte const> bytes) noexcept {
    std::size_t const end = at + bytes.size();
    if (end > room_.size() && !grow(end)) { return false; }
    if (at > size_) { std::memset(room_.data() + size_, 0, at - size_); }
    if (!bytes.empty()) { std::memcpy(room_.data() + at, bytes.data(), bytes.size()); }
    size_ = std::max(size_, end);
    return true;
  }
  [[nodiscard]] bool append(std::span<std::byte const> bytes) noexcept { return write(size_, bytes); }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  // Passes the bytes to the block.
  void finish() noexcept { block_.bytes = room_.first(size_); }

 private:
  [[nodiscard]] bool grow(std::size_t least) noexcept {
    try {
      Scratch larger;
      std::span<std::byte> const room = larger.get(std::max(least, 2 * room_.size()));
      if (size_ != 0) { std::memcpy(room.data(), room_.data(), size_); }
      block_.memory = std::move(larger);
      room_ = room;
      return true;
    } catch (std::bad_alloc const&) { return false; }
  }

  EncodedBlock& block_;
  std::span<std::byte> room_;
  std::size_t size_ = 0;
};

}  // namespace terrazzo::codec
