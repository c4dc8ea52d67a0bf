// SPDX-License-Identifier: Apache-2.0
#include "read/read_report.hpp"

#include <algorithm>
#include <iterator>

namespace terrazzo::reading {

void add_report(ReadReport& total, ReadReport part) {
  total.tiles += part.tiles;
  total.sparse_tiles += part.sparse_tiles;
  total.bytes_read += part.bytes_read;
  total.surplus_tiles += part.surplus_tiles;
  std::ranges::move(part.bad_tiles, std::back_inserter(total.bad_tiles));
}

}  // namespace terrazzo::reading
