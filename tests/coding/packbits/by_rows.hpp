// SPDX-License-Identifier: Apache-2.0
//
// What the encoders that work in parts, on the host and on a device, are compared with: rows one after the other.
#pragma once

#include "coding/packbits/encode.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace terrazzo::coding::test {

// Runs of any length among literals: a byte in `keep` is drawn anew, from `values`.
inline std::vector<std::byte> runs(std::size_t count, std::uint32_t seed, unsigned values, unsigned keep) {
  std::mt19937 engine(seed);
  std::vector<std::byte> bytes(count);
  std::byte last{};
  for (std::byte& b : bytes) {
    if (engine() % keep == 0) { last = static_cast<std::byte>(engine() % values); }
    b = last;
  }
  return bytes;
}

inline std::vector<std::byte> packbits_by_rows(std::vector<std::byte> const& tile, std::size_t row_bytes) {
  std::vector<std::byte> out;
  for (std::size_t row = 0; row < tile.size(); row += row_bytes) {
    std::size_t const size = std::min(row_bytes, tile.size() - row);
    std::vector<std::byte> packed(packbits_encode_bound(size));
    packed.resize(packbits_encode_row(tile.data() + row, size, packed.data()));
    out.insert(out.end(), packed.begin(), packed.end());
  }
  return out;
}

}  // namespace terrazzo::coding::test
