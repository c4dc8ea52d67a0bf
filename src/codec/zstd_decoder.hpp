// SPDX-License-Identifier: Apache-2.0
//
// Our own decoder of ZSTD frames (RFC 8878), for tiles that are noise in large part: elevations take an eighth less
// time than libzstd needs (AMD, two cores), photographs a tenth. It takes what it is sure of; libzstd has all other
// frames, and the last word on what is damaged.
#pragma once

#include "codec/zstd_decoder_literals.hpp"
#include "codec/zstd_decoder_sequences.hpp"
#include "codec/zstd_decoder_tables.hpp"
#include "tile/zstd_frame.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace terrazzo::codec {

// Large, so it is kept from tile to tile. One thread at a time.
class ZstdDecoder {
 public:
  // Whether it is worth asking: the machine has the instructions, there is more than one block, and the first has many
  // literals of long codes and few sequences. libzstd is faster with short codes, of which it takes two at a time, and
  // with short copies.
  [[nodiscard]] static bool is_for(std::span<std::byte const> in, std::size_t bytes) noexcept;

  // True when `in` is one frame, without dictionary or checksum, of exactly out.size() bytes, which are in `out` then.
  // False: it is another frame, or damaged; `out` may have been written to. REQUIRES: tile::has_avx2().
  [[nodiscard]] bool decode(std::span<std::byte const> in, std::span<std::byte> out) noexcept;

 private:
  static constexpr std::size_t kMostBlockBytes = tile::kZstdMaxBlockBytes;

  struct Block;
  [[nodiscard]] bool read_block(std::span<std::byte const>& in, std::size_t turn, Block& block) noexcept;
  [[nodiscard]] bool read_literals(std::span<std::byte const> in, std::size_t turn, Block& block) noexcept;
  [[nodiscard]] bool run_block(Block const& block, ZstdOutput& output) noexcept;
  [[nodiscard]] bool run_compressed(Block const& block, ZstdOutput& output) noexcept;

  // Two of each: the literals of two blocks are decoded together.
  std::array<LiteralTable, 2> literal_tables_;
  std::array<std::array<std::byte, kMostBlockBytes + kLiteralSlackBytes>, 2> literals_;
  LiteralTable const* literal_table_ = nullptr;  // the last that was told
  std::size_t most_block_bytes_ = 0;  // by the frame's window
  SequenceTables sequence_tables_;
  LastDistances last_distances_{};
};

}  // namespace terrazzo::codec
