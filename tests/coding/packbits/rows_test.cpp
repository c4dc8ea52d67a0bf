// SPDX-License-Identifier: Apache-2.0
#include "coding/packbits/rows.hpp"

#include "coding/packbits/by_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace terrazzo::coding {
namespace {

using Bytes = std::vector<std::byte>;
using test::packbits_by_rows;
using test::runs;

// In parts, as the device does it: counted first, then written, each part into a block of its exact size.
Bytes by_parts(Bytes const& tile, std::size_t row_bytes) {
  Bytes out;
  std::size_t const part_bytes = packbits_part_bytes(row_bytes);
  for (std::size_t begin = 0; begin < tile.size(); begin += part_bytes) {
    std::size_t const size = std::min(part_bytes, tile.size() - begin);
    PackBitsCount count;
    packbits_encode_rows(tile.data() + begin, size, row_bytes, count);
    Bytes packed(count.bytes);
    PackBitsWrite write{.out = packed.data()};
    packbits_encode_rows(tile.data() + begin, size, row_bytes, write);
    EXPECT_EQ(write.out, packed.data() + packed.size());
    out.insert(out.end(), packed.begin(), packed.end());
  }
  return out;
}

TEST(PackBitsRows, AreTheHostsBytes) {
  std::uint32_t seed = 0;
  for (std::size_t const row_bytes : {1U, 2U, 3U, 7U, 127U, 128U, 129U, 130U, 255U, 512U, 513U, 2048U}) {
    for (unsigned const values : {1U, 2U, 3U, 256U}) {
      for (unsigned const keep : {1U, 2U, 3U, 5U, 150U}) {
        for (std::size_t const size : {row_bytes, row_bytes * 9, row_bytes * 7 + row_bytes / 2}) {
          Bytes const tile = runs(size, ++seed, values, keep);
          Bytes const packed = by_parts(tile, row_bytes);
          ASSERT_EQ(packed, packbits_by_rows(tile, row_bytes)) << size << " bytes in rows of " << row_bytes;
          ASSERT_LE(packed.size(), packbits_rows_bound(size, row_bytes));
        }
      }
    }
  }
}

TEST(PackBitsRows, AreTheHostsBytesForEverySize) {
  for (std::size_t size = 0; size < 700; ++size) {
    for (unsigned const keep : {1U, 2U, 3U, 40U}) {
      Bytes const row = runs(size, static_cast<std::uint32_t>(size), 3, keep);
      ASSERT_EQ(by_parts(row, 1000), packbits_by_rows(row, 1000)) << size;
    }
  }
}

TEST(PackBitsRows, PartsAreWholeRows) {
  for (std::uint64_t row = 1; row < 2000; ++row) {
    EXPECT_EQ(packbits_part_bytes(row) % row, 0U);
    EXPECT_GT(packbits_part_bytes(row), 256U);
  }
}

TEST(PackBitsRows, BoundIsReachedByRowsWithoutRuns) {
  Bytes tile(3 * 257 + 5);
  for (std::size_t i = 0; i < tile.size(); ++i) { tile[i] = static_cast<std::byte>(i & 0xFF); }
  EXPECT_EQ(by_parts(tile, 257).size(), packbits_rows_bound(tile.size(), 257));
}

}  // namespace
}  // namespace terrazzo::coding
