// SPDX-License-Identifier: Apache-2.0
#include "codec/zstd/decoder_tables.hpp"
#include "codec/support.hpp"

namespace terrazzo::codec::testing {
namespace {

void expect_cell(SequenceTable const& table, std::size_t at, SequenceCell const& wanted) {
  SequenceCell const& cell = table.cells[at];
  EXPECT_EQ(cell.next, wanted.next) << at;
  EXPECT_EQ(cell.next_bits, wanted.next_bits) << at;
  EXPECT_EQ(cell.extra_bits, wanted.extra_bits) << at;
  EXPECT_EQ(cell.base, wanted.base) << at;
}

// Every state must be reached by every stretch of bits: next + 2^next_bits never leaves the table, and the ways into
// the cells of a symbol cover the table once.
void expect_whole(SequenceTable const& table) {
  std::size_t const size = std::size_t{1} << table.bits;
  std::size_t ways = 0;
  for (std::size_t i = 0; i < size; ++i) {
    EXPECT_LE(table.cells[i].next + (std::size_t{1} << table.cells[i].next_bits), size);
    ways += std::size_t{1} << table.cells[i].next_bits;
  }
  EXPECT_EQ(ways % size, 0u);
}

// By appendix A of RFC 8878.
TEST(SequenceTables, OfNoDescriptionAreThoseOfTheStandard) {
  SequenceTables tables;
  EXPECT_EQ(read_sequence_tables(bytes_of({0}), tables), 1u);
  EXPECT_TRUE(tables.are_told);
  EXPECT_EQ(tables.literal_lengths.bits, 6u);
  EXPECT_EQ(tables.offsets.bits, 5u);
  EXPECT_EQ(tables.match_lengths.bits, 6u);
  expect_cell(tables.literal_lengths, 0, {0, 4, 0, 0});
  expect_cell(tables.literal_lengths, 1, {16, 4, 0, 0});
  expect_cell(tables.literal_lengths, 2, {32, 5, 0, 1});
  expect_cell(tables.literal_lengths, 63, {0, 6, 13, 8192});
  expect_cell(tables.match_lengths, 0, {0, 6, 0, 3});
  expect_cell(tables.match_lengths, 1, {0, 4, 0, 4});
  expect_cell(tables.match_lengths, 63, {0, 6, 10, 1027});
  expect_cell(tables.offsets, 0, {0, 5, 0, 1});
  expect_cell(tables.offsets, 1, {0, 4, 6, 64});
  expect_cell(tables.offsets, 31, {0, 5, 24, 1U << 24});
  for (SequenceTable const* table : {&tables.literal_lengths, &tables.offsets, &tables.match_lengths}) {
    expect_whole(*table);
  }
}

TEST(SequenceTables, OfOneSymbolTakeNoBits) {
  SequenceTables tables;
  // One symbol each: literal length 17, offset 9, match length 40; a byte more is not theirs.
  EXPECT_EQ(read_sequence_tables(bytes_of({0b0101'0100, 17, 9, 40, 99}), tables), 4u);
  EXPECT_EQ(tables.literal_lengths.bits, 0u);
  expect_cell(tables.literal_lengths, 0, {0, 0, 1, 18});
  expect_cell(tables.offsets, 0, {0, 0, 9, 512});
  expect_cell(tables.match_lengths, 0, {0, 0, 4, 67});
}

TEST(SequenceTables, MayBeThoseOfTheBlockBefore) {
  SequenceTables tables;
  Bytes const all_repeated = bytes_of({0b1111'1100});
  EXPECT_EQ(read_sequence_tables(all_repeated, tables), 0u);  // there is none
  tables = {};
  ASSERT_EQ(read_sequence_tables(bytes_of({0b0101'0100, 17, 9, 40}), tables), 4u);
  EXPECT_EQ(read_sequence_tables(all_repeated, tables), 1u);
  expect_cell(tables.offsets, 0, {0, 0, 9, 512});
}

TEST(SequenceTables, AreNotReadFromWhatIsNone) {
  for (Bytes const& bytes : {
           Bytes{}, bytes_of({1}),                        // reserved bits
           bytes_of({0b0100'0000}),              // no symbol
           bytes_of({0b0100'0000, 36}),          // not a literal length
           bytes_of({0b0001'0000, 32}),          // not an offset
           bytes_of({0b0000'0100, 53}),          // not a match length
           bytes_of({0b1000'0000, 0x0F}),        // 20 bits
           bytes_of({0b0010'0000, 0x04}),        // 9 bits for offsets
           bytes_of({0b1000'0000, 0x00, 0x00}),  // shares that go on beyond the bytes
       }) {
    SequenceTables tables;
    EXPECT_EQ(read_sequence_tables(bytes, tables), 0u);
    EXPECT_FALSE(tables.are_told);
  }
}

// Description of 32 cells: 16 + 16, symbols 0 and 1. The first share of 33 values takes 5 or 6 bits.
TEST(SequenceTables, AreMadeFromTheirDescription) {
  // 0000: 5 bits. 17 of 0..33, width 6, short values 30: 17 in five bits. Then 17 of 0..17, width 5, short values 14:
  // 17 is 31 in five bits.
  std::uint32_t const description = 0U | 17U << 4 | 31U << 9;
  SequenceTables tables;
  Bytes const bytes = bytes_of({0b1000'0000, description & 0xFF, description >> 8 & 0xFF, 0});
  ASSERT_EQ(read_sequence_tables(bytes, tables), 3u);
  EXPECT_EQ(tables.literal_lengths.bits, 5u);
  std::size_t zeros = 0;
  for (std::size_t i = 0; i < 32; ++i) {
    EXPECT_EQ(tables.literal_lengths.cells[i].next_bits, 1);
    zeros += tables.literal_lengths.cells[i].base == 0 ? 1 : 0;
  }
  EXPECT_EQ(zeros, 16u);
  expect_whole(tables.literal_lengths);
}

TEST(LiteralTable, IsMadeOfWeightsThatAreToldOneByOne) {
  // Weights 2, 1 and one that is not told, 1: codes of 1, 2 and 2 bits (129: two weights).
  Bytes const bytes = bytes_of({129, 0x21, 0xEE});
  LiteralTable table;
  ASSERT_EQ(read_literal_table(bytes, table), 2u);
  EXPECT_EQ(table.entries[0], 2 | 1 << 8);
  EXPECT_EQ(table.entries[511], 2 | 1 << 8);
  EXPECT_EQ(table.entries[512], 2 | 2 << 8);
  EXPECT_EQ(table.entries[1024], 1 | 0 << 8);
  EXPECT_EQ(table.entries[2047], 1 | 0 << 8);
}

TEST(LiteralTable, IsNotReadFromWhatIsNone) {
  for (Bytes const& bytes : {
           Bytes{},
           bytes_of({0}),  // nothing described
           bytes_of({5, 1, 2}),  // cut short
           bytes_of({129}),  // likewise
           bytes_of({128, 0x00}),  // a weight of 0 alone
           bytes_of({129, 0x31}),  // 4 + 1: what is left of 8 is 3
           bytes_of({128, 0xC0}),  // longer than 11 bits
           bytes_of({129, 0x22}),  // no two codes of the longest
           bytes_of({2, 0x00, 0x00}),  // not a table of states
           // One weight whose states take no bits: there is no end to it.
           bytes_of({4, 0xF0, 0x03, 0x00, 0x04}),
           // A weight of 1 throughout, and a stream without the bits of the first states.
           bytes_of({4, 0x10, 0xF8, 0x01, 0x01}),
       }) {
    LiteralTable table;
    EXPECT_EQ(read_literal_table(bytes, table), 0u);
  }
}

}  // namespace
}  // namespace terrazzo::codec::testing
