// SPDX-License-Identifier: Apache-2.0
#include "coding/lzw/codes.hpp"

#include "coding/lzw/plain.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace terrazzo::coding {
namespace {

// Some bits of a stream that is the same at each call.
void put_some(LzwCodeWriter& writer, std::size_t from, std::size_t count) {
  for (std::size_t i = from; i < from + count; ++i) {
    writer.put(static_cast<std::uint32_t>(i) * 2654435761U >> 31, 1);
  }
}

TEST(LzwCodes, TheBucketsOfOnePrefixAreAllDifferent) {
  std::vector<bool> taken(kLzwBuckets);
  for (std::uint16_t const spread : kLzwSpread) {
    ASSERT_LT(spread, kLzwBuckets);
    EXPECT_FALSE(taken[spread]);
    taken[spread] = true;
  }
}

// Sizes on both sides of each change of width and of a full table, and some between.
TEST(LzwCodes, PacksTablesOfManySizesAndFullOnesInTheWidthsOfTheirPlaces) {
  std::vector<std::size_t> counts;
  for (std::size_t count = 0; count < kLzwCodesPerTable; count += count < 300 ? 1 : 97) { counts.push_back(count); }
  for (std::size_t const change : {766U, 1790U, 3836U}) {
    for (std::size_t count = change - 3; count <= std::min<std::size_t>(change + 3, kLzwCodesPerTable); ++count) {
      counts.push_back(count);
    }
  }
  ASSERT_EQ(counts.back(), kLzwCodesPerTable);
  for (std::size_t const count : counts) {
    std::vector<std::uint16_t> codes(count);
    std::iota(codes.begin(), codes.end(), std::uint16_t{100});
    bool const is_full = count == kLzwCodesPerTable;
    Bytes out(count * 2 + 16);
    LzwCodeWriter writer(out.data());
    writer.put(kLzwClear, kLzwMinWidth);
    writer.put_table(codes);
    if (is_full) { writer.put(kLzwClear, kLzwMaxWidth); }
    writer.put(kLzwEndOfInformation, lzw_width_at(is_full ? 0 : count));
    out.resize(writer.finish());

    PlainLzwStream plain;
    bool was_cleared = false;
    for (std::uint16_t const code : codes) { was_cleared = plain.put_string(code); }
    ASSERT_EQ(was_cleared, is_full);
    ASSERT_EQ(out, plain.finish()) << count << " codes";
  }
}

TEST(LzwCodes, AppendsAnotherStreamAtAnyBit) {
  for (std::size_t before = 0; before < 17; ++before) {
    for (std::size_t bits = 0; bits < 200; ++bits) {
      Bytes first(64), second(64), whole(64);
      LzwCodeWriter writer(first.data()), other(second.data()), one(whole.data());
      put_some(writer, 0, before);
      put_some(other, before, bits);
      writer.append(other);
      put_some(writer, before + bits, 11);
      put_some(one, 0, before + bits + 11);
      ASSERT_EQ(writer.finish(), one.finish());
      first.resize(writer.finish());
      whole.resize(one.finish());
      ASSERT_EQ(first, whole) << bits << " bits behind " << before;
    }
  }
}

TEST(LzwCodes, GoesOnFromACopy) {
  Bytes out(64), expected(64);
  LzwCodeWriter writer(out.data()), plain(expected.data());
  put_some(writer, 0, 13);
  LzwCodeWriter const copy = writer;
  writer.put(0xFFF, 12);
  writer = copy;
  put_some(writer, 13, 40);
  put_some(plain, 0, 53);
  out.resize(writer.finish());
  expected.resize(plain.finish());
  EXPECT_EQ(out, expected);
}

}  // namespace
}  // namespace terrazzo::coding
