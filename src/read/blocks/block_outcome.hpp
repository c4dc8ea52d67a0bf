// SPDX-License-Identifier: Apache-2.0
//
// Turns a decoder's result for a block into the outcome of the read: rows, a fill or an error. Every engine uses it.
#pragma once

#include "read/open/level.hpp"
#include "terrazzo/error.hpp"
#include "terrazzo/read.hpp"
#include "tile/tile_status.hpp"

#include <cstdint>
#include <optional>

namespace terrazzo::reading {

struct BlockOutcome {
  std::uint32_t good_rows = 0;         // from the block's first row on; the others are filled, or error is set
  std::optional<Error> error{};        // if set, ends the read
  std::optional<BadTileReport> bad{};  // if set, the block is filled and reported
};

// The kind of error that a bad block is. REQUIRES: the status is neither ok nor sparse.
[[nodiscard]] ErrorKind kind_of(tile::TileResult const& result) noexcept;

// Only bad_tile and strict of the request count.
[[nodiscard]] BlockOutcome judge_block(Level const& level, TileId const& id, tile::TileResult const& result,
                                       ReadRequest const& request);

}  // namespace terrazzo::reading
