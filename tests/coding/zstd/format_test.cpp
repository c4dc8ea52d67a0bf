// SPDX-License-Identifier: Apache-2.0
#include "coding/zstd/format.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace terrazzo::coding {
namespace {

// RFC 8878, 3.1.1.3.2.1.1: the first value of every code, and the bits behind it.
struct Row {
  std::uint32_t first, bits;
};
std::vector<Row> literal_length_rows() {
  std::vector<Row> rows;
  for (std::uint32_t i = 0; i < 16; ++i) { rows.push_back({i, 0}); }
  for (Row const row : {Row{16, 1}, {18, 1},    {20, 1},    {22, 1},      {24, 2},      {28, 2},     {32, 3},
                        {40, 3},    {48, 4},    {64, 6},    {128, 7},     {256, 8},     {512, 9},    {1024, 10},
                        {2048, 11}, {4096, 12}, {8192, 13}, {16'384, 14}, {32'768, 15}, {65'536, 16}}) {
    rows.push_back(row);
  }
  return rows;
}
std::vector<Row> match_length_rows() {
  std::vector<Row> rows;
  for (std::uint32_t i = 0; i < 32; ++i) { rows.push_back({i + 3, 0}); }
  for (Row const row : {Row{35, 1}, {37, 1},    {39, 1},    {41, 1},    {43, 2},      {47, 2},      {51, 3},
                        {59, 3},    {67, 4},    {83, 4},    {99, 5},    {131, 7},     {259, 8},     {515, 9},
                        {1027, 10}, {2051, 11}, {4099, 12}, {8195, 13}, {16'387, 14}, {32'771, 15}, {65'539, 16}}) {
    rows.push_back(row);
  }
  return rows;
}

template <class Code>
void expect_codes(std::vector<Row> const& rows, Code const& code_of) {
  for (std::uint32_t value = rows[0].first; value < 70'000; ++value) {
    ZstdCode const code = code_of(value);
    ASSERT_LT(code.code, rows.size());
    Row const row = rows[code.code];
    ASSERT_EQ(code.extra_bits, row.bits) << value;
    ASSERT_EQ(row.first + code.extra, value);
    ASSERT_LT(code.extra, 1U << code.extra_bits) << value;
  }
}

TEST(ZstdFormat, CodesLiteralLengths) {
  EXPECT_EQ(literal_length_rows().size(), kZstdLiteralLengthCodes);
  expect_codes(literal_length_rows(), zstd_literal_length_code);
}

TEST(ZstdFormat, CodesMatchLengths) {
  EXPECT_EQ(match_length_rows().size(), kZstdMatchLengthCodes);
  expect_codes(match_length_rows(), zstd_match_length_code);
}

TEST(ZstdFormat, CodesOffsets) {
  for (std::uint32_t value = 1; value < 40'000; ++value) {
    ZstdCode const code = zstd_offset_code(value);
    ASSERT_LT(code.code, kZstdOffsetCodes);
    ASSERT_EQ(code.code, code.extra_bits);
    ASSERT_EQ((1U << code.code) + code.extra, value);
  }
}

TEST(ZstdFormat, TellsTheContentSizeInAsFewBytesAsItTakes) {
  struct Case {
    std::uint64_t size;
    std::vector<std::uint32_t> bytes;
  };
  for (Case const& each :
       {Case{1, {0x20, 1}}, Case{255, {0x20, 255}}, Case{256, {0x60, 0, 0}}, Case{65'791, {0x60, 0xFF, 0xFF}},
        Case{65'792, {0xA0, 0x00, 0x01, 0x01, 0x00}}, Case{0x1'0000'0002, {0xE0, 2, 0, 0, 0, 1, 0, 0, 0}}}) {
    ZstdFrameHeader const header{each.size};
    ASSERT_EQ(header.bytes(), 4 + each.bytes.size()) << each.size;
    EXPECT_LE(header.bytes(), ZstdFrameHeader::kMostBytes);
    EXPECT_EQ(header.byte_at(0), 0x28u);
    EXPECT_EQ(header.byte_at(3), 0xFDu);
    for (std::uint32_t i = 0; i < each.bytes.size(); ++i) {
      EXPECT_EQ(header.byte_at(4 + i), each.bytes[i]) << each.size;
    }
  }
}

TEST(ZstdFormat, PutsTheLastBlockTheKindAndTheSizeIntoABlocksHeader) {
  EXPECT_EQ(zstd_block_header(ZstdBlockKind::raw, 5, false), 5u << 3);
  EXPECT_EQ(zstd_block_header(ZstdBlockKind::repeated, 5, true), 5u << 3 | 1 << 1 | 1);
  EXPECT_EQ(zstd_block_header(ZstdBlockKind::compressed, 32'768, true), 32'768u << 3 | 2 << 1 | 1);
}

}  // namespace
}  // namespace terrazzo::coding
