// SPDX-License-Identifier: Apache-2.0
//
// Huffman codes of limited length, as deflate stores them: lengths first, codes from the lengths alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace terrazzo::codec {

inline constexpr std::size_t kMostHuffmanSymbols = 288;

// Lengths of a complete code for symbols that occur so often; 0 for those that do not. A code of fewer than two symbols
// gets unused ones, for decoders refuse an incomplete code. Limits of 1 to 15 bits that hold all the symbols.
void huffman_lengths(std::span<std::uint32_t const> counts, unsigned limit_bits,
                     std::span<std::uint8_t> lengths) noexcept;

// Canonical codes (RFC 1951, 3.2.2), their first bit lowest.
void huffman_codes(std::span<std::uint8_t const> lengths, std::span<std::uint16_t> codes) noexcept;

}  // namespace terrazzo::codec
