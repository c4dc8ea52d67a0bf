// SPDX-License-Identifier: Apache-2.0
#include "read/blocks/decoded_rows.hpp"

#include "read/blocks/block_fixture.hpp"
#include "read/images.hpp"
#include "tile/host/stream_copy.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace terrazzo::reading {
namespace {

using test::Blocks;

TEST(StreamedRows, AreTheFinishedOnes) {
  // Swapped on the way, so that the rows are not merely copied.
  Opened const opened(
      image<std::uint16_t>({.width = 50, .height = 20, .compression = kPackBits, .order = std::endian::big}));
  Blocks by_row(level_of(opened)), streamed(level_of(opened));
  DecodedBlock const &one = by_row.load(0), &other = streamed.load(0);
  ASSERT_EQ(one.result.status, tile::TileStatus::ok);
  ASSERT_EQ(other.result.status, tile::TileStatus::ok);
  std::size_t const row_bytes = by_row.decoder.layout().row_bytes, stride = row_bytes + 6;
  std::vector<std::byte> wanted(stride * 12, std::byte{0xEE}), out = wanted;
  for (std::uint32_t r = 0; r < 12; ++r) { one.rows.finish_row(r + 5, wanted.data() + r * stride); }
  std::vector<std::byte> row(row_bytes);
  other.rows.stream_rows(5, 12, row.data(), out.data(), static_cast<std::ptrdiff_t>(stride));
  tile::fence_streamed_copies();
  EXPECT_EQ(out, wanted);
}

}  // namespace
}  // namespace terrazzo::reading
