// SPDX-License-Identifier: Apache-2.0
//
// Blocks of one level that libtiff decodes, for one thread. libtiff reads the source through a callback.
#pragma once

#include "base/memory_budget.hpp"
#include "codec/libtiff/decoder.hpp"
#include "read/blocks/growing_reservation.hpp"
#include "read/open/level.hpp"
#include "read/plan/decode_method.hpp"
#include "tile/tile_batch.hpp"
#include "tile/tile_status.hpp"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>

namespace terrazzo::reading {

class LibtiffBlocks {
 public:
  // All arguments outlive the object. REQUIRES: method.uses_libtiff().
  LibtiffBlocks(Level const& level, DecodeMethod const& method, MemoryBudget& budget);
  LibtiffBlocks(LibtiffBlocks const&) = delete;  // libtiff's callbacks point to this object
  LibtiffBlocks& operator=(LibtiffBlocks const&) = delete;

  // Decodes a block of `rows` rows. Throws if the source fails.
  [[nodiscard]] tile::TileResult decode(tile::BatchItem const& item, std::uint32_t rows, std::span<std::byte> out);

  // Bytes read for blocks. Excludes libtiff's reads of the directory, which happen once per thread.
  [[nodiscard]] std::uint64_t bytes_read() const noexcept { return bytes_read_; }

 private:
  void open();
  [[nodiscard]] tile::TileResult decode_samples(std::uint64_t block, std::uint32_t rows, std::span<std::byte> out);
  [[nodiscard]] tile::TileResult decode_rgba(std::uint64_t block, std::uint32_t rows, std::span<std::byte> out);

  Level const& level_;
  DecodeMethod const& method_;
  GrowingReservation compressed_;  // libtiff's own buffer
  std::exception_ptr source_failure_{};
  std::optional<codec::LibtiffDecoder> decoder_;
  std::uint64_t bytes_read_ = 0;
};

}  // namespace terrazzo::reading
