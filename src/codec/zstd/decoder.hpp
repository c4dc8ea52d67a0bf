// SPDX-License-Identifier: Apache-2.0
//
// Our own decoder of ZSTD frames (RFC 8878), for tiles that are largely noise: it takes an eighth less time than
// libzstd for elevations (AMD, two cores), a tenth less for photographs. It decodes only frames that it fully supports;
// libzstd decodes all others, and decides about damaged ones.
#pragma once

#include "codec/zstd/decoder_literals.hpp"
#include "codec/zstd/decoder_sequences.hpp"
#include "codec/zstd/decoder_tables.hpp"
#include "coding/zstd/frame.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace terrazzo::codec {

// Large, so it is kept from tile to tile. One thread at a time.
class ZstdDecoder {
 public:
  // True if decode() is likely to be faster: the machine has the instructions, there is more than one block, and the
  // first has many literals of long codes and few sequences. libzstd is faster with short codes, of which it decodes
  // two at a time, and with short copies.
  [[nodiscard]] static bool is_for(std::span<std::byte const> in, std::size_t bytes) noexcept;

  // Returns true if `in` is one frame, without dictionary or checksum, of exactly out.size() bytes, which are then in
  // `out`. False for another or a damaged frame; `out` may be partly written. REQUIRES: tile::has_avx2().
  [[nodiscard]] bool decode(std::span<std::byte const> in, std::span<std::byte> out) noexcept;

 private:
  static constexpr std::size_t kMostBlockBytes = coding::kZstdMaxBlockBytes;

  struct Block;
  [[nodiscard]] bool read_block(std::span<std::byte const>& in, std::size_t turn, Block& block) noexcept;
  [[nodiscard]] bool read_literals(std::span<std::byte const> in, std::size_t turn, Block& block) noexcept;
  [[nodiscard]] bool run_block(Block const& block, ZstdOutput& output) noexcept;
  [[nodiscard]] bool run_compressed(Block const& block, ZstdOutput& output) noexcept;

  // Two of each: the literals of two blocks are decoded together.
  std::array<LiteralTable, 2> literal_tables_;
  std::array<std::array<std::byte, kMostBlockBytes + kLiteralSlackBytes>, 2> literals_;
  LiteralTable const* literal_table_ = nullptr;  // the last one described
  std::size_t most_block_bytes_ = 0;  // from the frame's window
  SequenceTables sequence_tables_;
  LastDistances last_distances_{};
};

}  // namespace terrazzo::codec
