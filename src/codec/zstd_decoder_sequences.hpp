// SPDX-License-Identifier: Apache-2.0
//
// Sequences of a ZSTD block (RFC 8878, 3.1.1.3.2 and 3.1.1.4): each copies literals, then bytes of the output so far.
#pragma once

#include "codec/zstd_decoder_tables.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace terrazzo::codec {

// What copies of literals may read beyond the last of them.
inline constexpr std::size_t kLiteralSlackBytes = 32;

// Where the bytes of the frame go.
struct ZstdOutput {
  std::byte* begin;
  std::byte* at;
  std::byte* end;

  [[nodiscard]] std::size_t room() const noexcept { return static_cast<std::size_t>(end - at); }
};

// The distances used last, the latest first.
using LastDistances = std::array<std::uint32_t, 3>;

// Runs `count` sequences, whose codes are `bits`, and puts the literals that are left behind them. False when they are
// damaged or do not fit. REQUIRES: tile::has_avx2(); count is not 0; kLiteralSlackBytes can be read behind `literals`.
[[nodiscard]] bool run_sequences(SequenceTables const& tables, std::uint32_t count, std::span<std::byte const> bits,
                                 std::span<std::byte const> literals, LastDistances& last_distances,
                                 ZstdOutput& output) noexcept;

}  // namespace terrazzo::codec
