// SPDX-License-Identifier: Apache-2.0
//
// Literals of a ZSTD block: streams of Huffman codes (RFC 8878, 4.2.2). In each of them one lookup waits for the other;
// the four streams of a block leave a processor with nothing to do half of the time, those of two blocks do not.
#pragma once

#include "codec/zstd_decoder_tables.hpp"

#include <array>
#include <cstddef>
#include <span>

namespace terrazzo::codec {

// What is to be decoded, and to where: four streams, or one of few literals.
struct CodedLiterals {
  static constexpr std::size_t kMostStreams = 4;

  LiteralTable const* table = nullptr;
  std::size_t count = 0;  // of streams
  std::array<std::span<std::byte const>, kMostStreams> streams;
  std::array<std::span<std::byte>, kMostStreams> literals;
};

// Finds the streams in what follows the table: the sizes of all but the last, and themselves. False when they are not
// all there. REQUIRES: `count` is 1 or 4.
[[nodiscard]] bool find_literal_streams(std::span<std::byte const> section, std::size_t count,
                                        std::span<std::byte> literals, CodedLiterals& found) noexcept;

// False when a stream does not hold exactly its literals. REQUIRES: tile::has_avx2().
[[nodiscard]] bool decode_literals(CodedLiterals const& block) noexcept;
// The same for two blocks of four streams each.
[[nodiscard]] bool decode_literals(CodedLiterals const& first, CodedLiterals const& second) noexcept;

}  // namespace terrazzo::codec
