// SPDX-License-Identifier: Apache-2.0
//
// Literals of a ZSTD block: streams of Huffman codes (RFC 8878, 4.2.2). In each stream a lookup depends on the previous
// one; the four streams of a block leave a processor idle half of the time, those of two blocks do not.
#pragma once

#include "codec/zstd/decoder_tables.hpp"

#include <array>
#include <cstddef>
#include <span>

namespace terrazzo::codec {

// The streams to decode and their destination: four streams, or one of few literals.
struct CodedLiterals {
  static constexpr std::size_t kMostStreams = 4;

  LiteralTable const* table = nullptr;
  std::size_t count = 0;  // number of streams
  std::array<std::span<std::byte const>, kMostStreams> streams;
  std::array<std::span<std::byte>, kMostStreams> literals;
};

// Finds the streams after the table: the sizes of all except the last, and the streams. Returns false if they are
// incomplete. REQUIRES: `count` is 1 or 4.
[[nodiscard]] bool find_literal_streams(std::span<std::byte const> section, std::size_t count,
                                        std::span<std::byte> literals, CodedLiterals& found) noexcept;

// Returns false unless each stream holds exactly its literals. REQUIRES: tile::has_avx2().
[[nodiscard]] bool decode_literals(CodedLiterals const& block) noexcept;
// Decodes two blocks of four streams each.
[[nodiscard]] bool decode_literals(CodedLiterals const& first, CodedLiterals const& second) noexcept;

}  // namespace terrazzo::codec
