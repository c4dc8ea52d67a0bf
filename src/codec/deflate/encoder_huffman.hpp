// SPDX-License-Identifier: Apache-2.0
//
// Huffman codes of limited length in Deflate's form: the lengths determine the codes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace terrazzo::codec {

inline constexpr std::size_t kMostHuffmanSymbols = 288;

// Computes the lengths of a complete code from the counts of symbols; 0 for symbols that do not occur. A code of fewer
// than two symbols gets unused ones, because decoders refuse an incomplete code. REQUIRES: a limit of 1 to 15 bits that
// is enough for all symbols.
void huffman_lengths(std::span<std::uint32_t const> counts, unsigned limit_bits,
                     std::span<std::uint8_t> lengths) noexcept;

// Canonical codes (RFC 1951, 3.2.2), with their first bit lowest.
void huffman_codes(std::span<std::uint8_t const> lengths, std::span<std::uint16_t> codes) noexcept;

}  // namespace terrazzo::codec
