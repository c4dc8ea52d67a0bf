// SPDX-License-Identifier: Apache-2.0
#include "read/read_report.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <string>
#include <tuple>

namespace terrazzo::reading {

void add_report(ReadReport& total, ReadReport part) {
  total.tiles += part.tiles;
  total.sparse_tiles += part.sparse_tiles;
  total.bytes_read += part.bytes_read;
  total.surplus_tiles += part.surplus_tiles;
  std::ranges::move(part.bad_tiles, std::back_inserter(total.bad_tiles));
}

void drop_repeats(std::vector<BadTileReport>& bad_tiles) {
  std::set<std::tuple<std::string, std::uint32_t, std::uint32_t, std::uint32_t, std::string>> seen;
  std::erase_if(bad_tiles, [&](BadTileReport const& bad) {
    return !seen.emplace(bad.source, bad.tile.plane, bad.tile.row, bad.tile.column, bad.message).second;
  });
}

}  // namespace terrazzo::reading
