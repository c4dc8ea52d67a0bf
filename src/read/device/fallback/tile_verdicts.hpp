// SPDX-License-Identifier: Apache-2.0
//
// The host decides about tiles that a device read could not decode: it decodes them, fills them or reports an error, as
// in a host read. No CUDA here.
#pragma once

#include "read/block_list.hpp"
#include "read/device/work.hpp"
#include "read/read_job.hpp"
#include "terrazzo/error.hpp"
#include "terrazzo/read.hpp"
#include "tile/row_format.hpp"
#include "tile/tile_status.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace terrazzo::reading {

// Thread rule: any thread may call any member except finish().
class TileVerdicts {
 public:
  // The arguments outlive this object; `uses` belongs to the work whose tiles are judged.
  TileVerdicts(std::span<ReadJob const> jobs, std::span<BlockUse const> uses, ReadRequest const& request);

  // The number of rows of the block that the read needs, from its first row on: all rows of a compressed block, and the
  // rows up to the last requested one of an uncompressed block.
  [[nodiscard]] std::uint32_t wanted_rows(WorkTile const& tile, bool is_raw) const;

  // The number of valid rows of the tile, from its first row on; fill_row() makes the others. nullopt if the tile ends
  // the read.
  [[nodiscard]] std::optional<std::uint32_t> judge(WorkTile const& tile, bool is_raw, tile::TileResult const& result);

  // Writes a row of missing pixels in the format `format`: after placing, they equal the fill values of the host
  // engine.
  void fill_row(WorkTile const& tile, tile::RowFormat const& format, std::span<std::byte> row) const;

  // Adds bad tiles in the order in which the host engine finds them, and throws the first error.
  void finish(ReadReport& report);

  // The number of filled tiles.
  [[nodiscard]] std::uint64_t filled() const;

 private:
  [[nodiscard]] std::uint64_t order_of(BlockUse const& use) const noexcept { return orders_[use.job] + use.index; }
  [[nodiscard]] std::span<BlockUse const> uses_of(WorkTile const& tile) const noexcept {
    return uses_.subspan(tile.first_use, tile.use_count);
  }
  // The end of the rows that a use takes from the block.
  [[nodiscard]] std::uint32_t end_row(BlockUse const& use) const;

  std::span<ReadJob const> jobs_;
  std::span<BlockUse const> uses_;
  ReadRequest const& request_;
  std::vector<std::uint64_t> orders_;  // order of each job's first block
  mutable std::mutex mutex_;  // guards the members below
  std::optional<Error> failure_;
  std::uint64_t failed_order_ = 0;
  std::vector<std::pair<std::uint64_t, BadTileReport>> bad_;  // with their orders
};

}  // namespace terrazzo::reading
