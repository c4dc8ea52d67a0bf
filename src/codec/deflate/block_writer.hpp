// SPDX-License-Identifier: Apache-2.0
//
// Writes Deflate blocks with their own codes (RFC 1951, 3.2.7) from bytes and the matches found in them.
#pragma once

#include "coding/deflate/format.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace terrazzo::codec {

inline constexpr std::size_t kLongestMatch = coding::kDeflateLongestMatch;
inline constexpr std::size_t kFarthestMatch = coding::kDeflateFarthest;

// Literals, then bytes that copy those `distance` before them.
struct DeflateMatch {
  std::uint32_t literals = 0;
  std::uint16_t length = 0;             // 3 to 258
  std::uint16_t distance_less_one = 0;  // 0 to 32767
};

// The costs of a block's codes.
struct DeflateCost {
  std::array<std::uint8_t, 256> literal_bits{};
  std::uint64_t block_bits = 0;
};

class DeflateBlockWriter {
 public:
  explicit DeflateBlockWriter(std::span<std::byte> out) noexcept : out_(out) {}

  // Writes a block of `bytes`; bytes after the last match are literals. Returns false if `out` has no room for it.
  [[nodiscard]] bool write(std::span<std::byte const> bytes, std::span<DeflateMatch const> matches, bool last) noexcept;

  // The cost of the last block written.
  [[nodiscard]] DeflateCost const& cost() const noexcept { return cost_; }

  // Returns the number of bytes written. Call it after the last block.
  [[nodiscard]] std::size_t finish() noexcept;

 private:
  struct Codes;
  void write_header(Codes const& codes, bool last) noexcept;
  void write_body(Codes const& codes, std::span<std::byte const> bytes, std::span<DeflateMatch const> matches) noexcept;
  void put(std::uint64_t bits, unsigned count) noexcept {
    bits_ |= bits << bit_count_;
    bit_count_ += count;
  }
  void flush() noexcept;

  std::span<std::byte> out_;
  std::size_t at_ = 0;
  std::uint64_t bits_ = 0;  // not written yet: fewer than 8 after flush()
  unsigned bit_count_ = 0;
  DeflateCost cost_;
};

}  // namespace terrazzo::codec
