// SPDX-License-Identifier: Apache-2.0
//
// Sequences of a ZSTD block (RFC 8878, 3.1.1.3.2 and 3.1.1.4): each copies literals, then bytes of the output so far.
#pragma once

#include "codec/zstd/decoder_tables.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace terrazzo::codec {

// Bytes that copies of literals may read beyond the last of them.
inline constexpr std::size_t kLiteralSlackBytes = 32;

// The destination of the frame's bytes.
struct ZstdOutput {
  std::byte* begin;
  std::byte* at;
  std::byte* end;

  [[nodiscard]] std::size_t room() const noexcept { return static_cast<std::size_t>(end - at); }
};

// The last distances, the latest first.
using LastDistances = std::array<std::uint32_t, 3>;

// Runs `count` sequences, whose codes are `bits`, and appends the remaining literals. Returns false if they are damaged
// or do not fit. REQUIRES: tile::has_avx2(); count is not 0; kLiteralSlackBytes can be read after `literals`.
[[nodiscard]] bool run_sequences(SequenceTables const& tables, std::uint32_t count, std::span<std::byte const> bits,
                                 std::span<std::byte const> literals, LastDistances& last_distances,
                                 ZstdOutput& output) noexcept;

}  // namespace terrazzo::codec
