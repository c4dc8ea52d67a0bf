// SPDX-License-Identifier: Apache-2.0
#include "codec/zstd/decoder_literals.hpp"
#include "codec/support.hpp"
#include "tile/host/cpu.hpp"

#if TERRAZZO_HAVE_X86

namespace terrazzo::codec::testing {
namespace {

// Codes of 1 to 11 bits: ten symbols of one bit more each, and two of eleven. Weights of eleven symbols are told.
LiteralTable uneven_table() {
  Bytes description = {std::byte{127 + 11}};
  for (unsigned const weights : {0xBAU, 0x98U, 0x76U, 0x54U, 0x32U, 0x10U}) {
    description.push_back(static_cast<std::byte>(weights));
  }
  LiteralTable table;
  EXPECT_EQ(read_literal_table(description, table), description.size());
  return table;
}

// 128 symbols of seven bits.
LiteralTable even_table() {
  Bytes description(1 + 64, std::byte{0x11});
  description[0] = std::byte{127 + 127};
  description.back() = std::byte{0x10};
  LiteralTable table;
  EXPECT_EQ(read_literal_table(description, table), description.size());
  return table;
}

// The stream of the literals: their codes from the last to the first, then the mark.
Bytes encode(LiteralTable const& table, std::span<std::byte const> literals) {
  std::vector<bool> bits;
  for (std::size_t i = literals.size(); i-- > 0;) {
    std::uint32_t code = 0;
    while (static_cast<std::byte>(table.entries[code] >> 8) != literals[i]) { ++code; }
    std::uint32_t const length = table.entries[code] & 0xFF;
    for (std::uint32_t b = 0; b < length; ++b) { bits.push_back((code >> (11 - length + b) & 1) != 0); }
  }
  bits.push_back(true);
  Bytes stream((bits.size() + 7) / 8);
  for (std::size_t i = 0; i < bits.size(); ++i) {
    if (bits[i]) { stream[i / 8] |= static_cast<std::byte>(1U << i % 8); }
  }
  return stream;
}

Bytes random_literals(std::size_t count, unsigned symbols, std::uint32_t seed) {
  Bytes literals = random_bytes(count, seed);
  for (std::byte& literal : literals) {
    literal = static_cast<std::byte>(std::to_integer<unsigned>(literal) % symbols);
  }
  return literals;
}

// A section as a block has it, and the memory that its literals go to.
struct Section {
  Bytes bytes, decoded;
  CodedLiterals coded;

  Section(LiteralTable const& table, Bytes const& literals, std::size_t streams) : decoded(literals.size()) {
    std::size_t const each = (literals.size() + streams - 1) / streams;
    Bytes content;
    for (std::size_t i = 0; i < streams; ++i) {
      std::size_t const begin = std::min(i * each, literals.size());
      std::size_t const end = i + 1 == streams ? literals.size() : std::min(begin + each, literals.size());
      Bytes const stream = encode(table, std::span(literals).subspan(begin, end - begin));
      if (i + 1 < streams) {
        bytes.push_back(static_cast<std::byte>(stream.size() & 0xFF));
        bytes.push_back(static_cast<std::byte>(stream.size() >> 8));
      }
      content.insert(content.end(), stream.begin(), stream.end());
    }
    bytes.insert(bytes.end(), content.begin(), content.end());
    bytes.shrink_to_fit();
    coded.table = &table;
    EXPECT_TRUE(find_literal_streams(bytes, streams, decoded, coded));
  }
};

class ZstdLiterals : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!tile::has_avx2()) { GTEST_SKIP() << "no AVX2 here"; }
  }
  LiteralTable uneven_ = uneven_table(), even_ = even_table();
};

TEST_F(ZstdLiterals, OfOneBlockAreDecodedWhateverTheirNumber) {
  for (std::size_t const count : {6u, 7u, 8u, 9u, 20u, 63u, 64u, 65u, 100u, 333u, 1000u, 20'000u}) {
    for (std::size_t const streams : {1u, 4u}) {
      for (bool const is_even : {false, true}) {
        Bytes const literals = random_literals(count, is_even ? 128 : 12, static_cast<std::uint32_t>(count));
        Section section(is_even ? even_ : uneven_, literals, streams);
        EXPECT_TRUE(decode_literals(section.coded)) << count << " in " << streams;
        EXPECT_EQ(section.decoded, literals);
      }
    }
  }
}

TEST_F(ZstdLiterals, OfTwoBlocksMayDifferInNumberAndTable) {
  for (std::size_t const count : {6u, 100u, 2000u}) {
    for (std::size_t const other_count : {6u, 99u, 5000u}) {
      Bytes const literals = random_literals(count, 12, 1), others = random_literals(other_count, 128, 2);
      Section section(uneven_, literals, 4), other(even_, others, 4);
      EXPECT_TRUE(decode_literals(section.coded, other.coded));
      EXPECT_EQ(section.decoded, literals);
      EXPECT_EQ(other.decoded, others);
    }
  }
}

// Words move as far as they can; a sanitizer sees one that moves before the stream.
TEST_F(ZstdLiterals, OfTheLongestCodesStayWithinTheirStream) {
  for (std::size_t count = 6; count < 200; ++count) {
    Bytes const literals(count, std::byte{11});
    Section section(uneven_, literals, 1);
    EXPECT_TRUE(decode_literals(section.coded)) << count;
    EXPECT_EQ(section.decoded, literals);
  }
}

TEST_F(ZstdLiterals, MustBeExactlyThoseOfTheStream) {
  Bytes const literals = random_literals(400, 128, 3);
  for (std::size_t const streams : {1u, 4u}) {
    for (std::size_t i = 0; i < streams; ++i) {
      Section section(even_, literals, streams);
      CodedLiterals fewer = section.coded, more = section.coded, none = section.coded;
      fewer.literals[i] = fewer.literals[i].first(fewer.literals[i].size() - 1);
      more.streams[i] = more.streams[i].subspan(1);
      none.streams[i] = {};
      EXPECT_FALSE(decode_literals(fewer));
      EXPECT_FALSE(decode_literals(more));
      EXPECT_FALSE(decode_literals(none));
      if (streams > 1) {
        Section good(even_, literals, 4);
        EXPECT_FALSE(decode_literals(good.coded, fewer));
        EXPECT_FALSE(decode_literals(more, good.coded));
      }
    }
  }
}

TEST_F(ZstdLiterals, AreNotFoundWhereStreamsAreCutShort) {
  Bytes literals(100);
  CodedLiterals found;
  EXPECT_FALSE(find_literal_streams(Bytes(5), 4, literals, found));
  Bytes section(20);
  section[2] = std::byte{15};  // the second stream reaches beyond the section
  EXPECT_FALSE(find_literal_streams(section, 4, literals, found));
  section[2] = std::byte{14};
  EXPECT_TRUE(find_literal_streams(section, 4, literals, found));
  for (std::size_t few = 0; few < 6; ++few) {  // too few for four
    EXPECT_FALSE(find_literal_streams(section, 4, std::span(literals).first(few), found));
  }
}

}  // namespace
}  // namespace terrazzo::codec::testing

#endif
