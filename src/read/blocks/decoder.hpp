// SPDX-License-Identifier: Apache-2.0
//
// Decodes compressed blocks of one level, for one thread. Input: a batch of a BlockFetcher; output: decoded rows.
#pragma once

#include "base/memory_budget.hpp"
#include "codec/registry/codec.hpp"
#include "codec/registry/memory_charge.hpp"
#include "read/blocks/decoded_rows.hpp"
#include "read/blocks/growing_reservation.hpp"
#include "read/blocks/libtiff_blocks.hpp"
#include "read/blocks/row_finisher.hpp"
#include "read/blocks/thread_scratch.hpp"
#include "read/open/level.hpp"
#include "read/plan/decode_method.hpp"
#include "tile/tile_batch.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace terrazzo::reading {

class BlockDecoder {
 public:
  // All arguments outlive the decoder. REQUIRES: the method is not raw. Throws `limit` if a decoded block exceeds the
  // budget, and `unsupported` for a predictor that TIFF does not define for the sample type.
  BlockDecoder(Level const& level, DecodeMethod const& method, MemoryBudget& budget, ThreadScratch& scratch);
  BlockDecoder(BlockDecoder const&) = delete;
  BlockDecoder& operator=(BlockDecoder const&) = delete;

  [[nodiscard]] RowLayout const& layout() const noexcept { return layout_; }

  // The form of the blocks that decode() returns.
  enum class Form : std::uint8_t {
    rows,
    rows_or_planes,  // planes of a JPEG if they are faster: see DecodedRows::is_in_planes()
  };

  // Decodes blocks of the batch, starting at block `first`: one block, or up to `most` if the codec is faster with
  // several blocks at once and the memory suffices. Returns the decoded blocks, at least one; they are valid until the
  // next call. REQUIRES: the batch has block `first`, and a fetcher of this level and method made it.
  [[nodiscard]] std::span<DecodedBlock const> decode(tile::TileBatch const& batch, std::size_t first,
                                                     std::size_t most = 1, Form form = Form::rows);

  // Bytes that libtiff read. The fetcher counts all other bytes.
  [[nodiscard]] std::uint64_t bytes_read() const noexcept { return libtiff_ ? libtiff_->bytes_read() : 0; }

 private:
  using Items = std::span<tile::BatchItem const>;

  [[nodiscard]] std::size_t count_at_once(Items items, std::size_t most);
  void decode_several(tile::TileBatch const& batch, Items items);
  [[nodiscard]] DecodedBlock decode_one(tile::TileBatch const& batch, Items items, Form form);
  [[nodiscard]] DecodedBlock decode_with_libtiff(tile::BatchItem const& item, std::uint32_t rows);
  [[nodiscard]] DecodedBlock decode_colours(tile::TileBatch const& batch, Items items, std::uint32_t rows);
  [[nodiscard]] tile::TileResult decode_planes(tile::TileBatch const& batch, Items items, std::uint32_t rows,
                                               std::span<std::byte> out);
  [[nodiscard]] std::uint32_t rows_of(tile::BatchItem const& item) const noexcept;
  [[nodiscard]] std::uint64_t needed_bytes(std::uint64_t block) const noexcept;
  // Returns `result`, or `ok` if the stream lacks only padding. `out` is the whole decoded block.
  [[nodiscard]] tile::TileResult without_padding(std::uint64_t block, tile::TileResult const& result,
                                                 std::span<std::byte> out) const noexcept;
  [[nodiscard]] std::span<std::byte const> unreversed(std::span<std::byte const> bytes);

  Level const& level_;
  DecodeMethod const& method_;
  MemoryBudget& budget_;
  ThreadScratch& scratch_;
  codec::MemoryCharge codec_memory_;
  RowFinisher finisher_;
  RowLayout layout_;
  codec::BlockFormat format_;
  std::size_t items_per_block_;
  std::optional<LibtiffBlocks> libtiff_;
  GrowingReservation decoded_reservation_, reversed_reservation_;
  std::optional<MemoryBudget::Reservation> more_blocks_{};  // for all blocks decoded at once except the first
  std::vector<codec::Block> at_once_;
  std::vector<DecodedBlock> decoded_;
};

}  // namespace terrazzo::reading
