// SPDX-License-Identifier: Apache-2.0
#include "codec/deflate/decoder_tables.hpp"

#include "codec/deflate_builder.hpp"

#include <algorithm>
#include <memory>

namespace terrazzo::codec::testing {
namespace {

// What follows the three bits of a block, with a code for code lengths that has those of 0 and 1, and of all runs.
class RunBuilder {
 public:
  RunBuilder(std::size_t symbols, std::size_t distances) {
    builder_.put(symbols - 257, 5).put(distances - 1, 5).put(18 - 4, 4);
    for (unsigned const bits : {2U, 3U, 3U, 2U}) { builder_.put(bits, 3); }  // 16, 17, 18 and 0
    builder_.put(0, 13 * 3).put(2, 3);                                       // and 1
  }
  RunBuilder& zero() { return put(0b00, 2); }
  RunBuilder& one() { return put(0b10, 2); }
  RunBuilder& repeat(std::size_t times) { return put(0b01, 2).put(times - 3, 2); }
  RunBuilder& zeros(std::size_t count) {
    return count < 11 ? put(0b011, 3).put(count - 3, 3) : put(0b111, 3).put(count - 11, 7);
  }
  RunBuilder& put(std::uint64_t value, std::uint32_t count) {
    builder_.put(value, count);
    return *this;
  }
  [[nodiscard]] Bytes const& stream() const { return builder_.stream(); }

 private:
  DeflateBuilder builder_;
};

bool reads(Bytes const& stream) {
  DeflateLengths lengths;
  ForwardBits bits(stream);
  return lengths.read(bits);
}

TEST(DeflateLengths, AreReadInRunsThatMayGoFromSymbolsIntoDistances) {
  DeflateLengths lengths;
  lengths.set_fixed();  // of which nothing is to be left
  Bytes const stream =
      RunBuilder(258, 4).one().zeros(138).zeros(100).zeros(10).zeros(3).one().repeat(6).zero().one().one().stream();
  ForwardBits bits(stream);
  ASSERT_TRUE(lengths.read(bits));
  EXPECT_EQ((bits.at_bit() + 7) / 8, stream.size());
  for (std::size_t i = 0; i < lengths.symbols.size(); ++i) {
    EXPECT_EQ(lengths.symbols[i], i == 0 || (i >= 252 && i < 258) ? 1 : 0) << i;
  }
  for (std::size_t i = 0; i < lengths.distances.size(); ++i) {
    EXPECT_EQ(lengths.distances[i], i == 0 || i == 2 || i == 3 ? 1 : 0) << i;
  }
}

TEST(DeflateLengths, AreReadInTheShortestAndLongestRuns) {
  for (std::size_t const times : {3U, 6U}) {
    Bytes const stream =
        RunBuilder(257, 1).one().repeat(times).zeros(138).zeros(116 - times).one().zero().one().stream();
    DeflateLengths lengths;
    ForwardBits bits(stream);
    ASSERT_TRUE(lengths.read(bits));
    EXPECT_EQ(std::ranges::count(lengths.symbols, 1), static_cast<std::ptrdiff_t>(1 + times + 1));
    EXPECT_EQ(lengths.symbols[256], 0);
    EXPECT_EQ(lengths.symbols[255], 1);
    EXPECT_EQ(lengths.distances[0], 1);
  }
}

TEST(DeflateLengths, AreReadAsTheyWereWritten) {
  std::mt19937 random(3);
  for (int i = 0; i < 50; ++i) {
    DeflateLengths const wanted = any_lengths(random);
    Bytes const stream = DeflateBuilder().begin(wanted, true).stream();
    DeflateLengths lengths;
    ForwardBits bits(stream, 3);
    ASSERT_TRUE(lengths.read(bits));
    EXPECT_EQ(lengths.symbols, wanted.symbols);
    EXPECT_EQ(lengths.distances, wanted.distances);
  }
}

TEST(DeflateLengths, AreNotReadFromWhatIsNone) {
  EXPECT_TRUE(reads(RunBuilder(257, 1).one().zeros(138).zeros(118).one().stream()));
  EXPECT_FALSE(reads(RunBuilder(257, 1).repeat(3).zeros(138).zeros(116).one().stream()));        // of nothing
  EXPECT_FALSE(reads(RunBuilder(257, 1).one().zeros(138).zeros(117).one().repeat(3).stream()));  // more than there are
  EXPECT_FALSE(reads(RunBuilder(257, 1).one().zeros(138).zeros(120).stream()));  // likewise
  EXPECT_TRUE(reads(RunBuilder(257, 1).one().zeros(138).zeros(119).stream()));
  // Codes for code lengths: of nothing, incomplete (one of one bit), over-full (three of one bit).
  EXPECT_FALSE(reads(Bytes(100, std::byte{0})));
  auto const with_run_lengths = [](std::initializer_list<unsigned> lengths) {
    DeflateBuilder builder;
    builder.put(0, 10).put(lengths.size() - 4, 4);
    for (unsigned const bits : lengths) { builder.put(bits, 3); }
    return builder.put(0, 2000).stream();
  };
  EXPECT_FALSE(reads(with_run_lengths({0, 0, 0, 1})));
  EXPECT_FALSE(reads(with_run_lengths({1, 1, 0, 1})));
  EXPECT_FALSE(reads(with_run_lengths({7, 0, 0, 1})));
  EXPECT_TRUE(reads(with_run_lengths({0, 0, 1, 1})));  // all of them 0: that no symbol has a code is not its business
}

TEST(DeflateLengths, AreNotReadFromAnyPrefix) {
  auto const expect_whole_only = [](Bytes const& stream, std::uint64_t from_bit) {
    for (std::size_t size = 0; size <= stream.size(); ++size) {
      auto const exact = std::make_unique<std::byte[]>(size);
      std::copy_n(stream.begin(), size, exact.get());
      DeflateLengths lengths;
      ForwardBits bits({exact.get(), size}, from_bit);
      EXPECT_EQ(lengths.read(bits), size == stream.size()) << size;
    }
  };
  std::mt19937 random(4);
  expect_whole_only(DeflateBuilder().begin(any_lengths(random), true).stream(), 3);
  expect_whole_only(RunBuilder(257, 1).one().zeros(138).zeros(117).one().one().stream(), 0);
}

// By 3.2.6 of RFC 1951.
TEST(DeflateLengths, OfFixedBlocksAreThoseOfTheStandard) {
  DeflateLengths lengths;
  lengths.symbols.fill(1);
  lengths.distances.fill(1);
  lengths.set_fixed();
  for (std::size_t i = 0; i < 288; ++i) {
    EXPECT_EQ(lengths.symbols[i], i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8) << i;
  }
  for (std::uint8_t const bits : lengths.distances) { EXPECT_EQ(bits, 5); }
}

// By the tables of 3.2.5.
TEST(SymbolEntry, TellsWhatASymbolMeans) {
  SymbolEntry const literal = SymbolEntry::of(0xA7, 9);
  EXPECT_EQ(literal.bits(), 9u);
  EXPECT_EQ(literal.literals(), 1u);
  EXPECT_EQ(literal.literal(), 0xA7u);
  EXPECT_EQ(literal.length(), 0u);
  EXPECT_EQ(literal.word & (SymbolEntry::kIsRare | SymbolEntry::kHasMatch), 0u);
  SymbolEntry const end = SymbolEntry::of(256, 15);
  EXPECT_EQ(end.bits(), 15u);
  EXPECT_EQ(end.word & ~0xFFU, SymbolEntry::kIsRare | SymbolEntry::kIsEnd);
  for (std::uint32_t symbol = 257; symbol <= 262; ++symbol) {
    SymbolEntry const match = SymbolEntry::of(symbol, 5);
    EXPECT_EQ(match.bits(), 5u);
    EXPECT_EQ(match.length(), symbol - 254);
    EXPECT_EQ(match.literals(), 0u);
    EXPECT_EQ(match.word & (SymbolEntry::kIsRare | SymbolEntry::kHasMatch), SymbolEntry::kHasMatch);
  }
  struct Long {
    std::uint32_t symbol, least, extra_bits;
  };
  for (Long const wanted :
       {Long{263, 9, 0}, Long{264, 10, 0}, Long{265, 11, 1}, Long{268, 17, 1}, Long{269, 19, 2}, Long{273, 35, 3},
        Long{277, 67, 4}, Long{281, 131, 5}, Long{284, 227, 5}, Long{285, 258, 0}}) {
    SymbolEntry const match = SymbolEntry::of(wanted.symbol, 15);
    EXPECT_EQ(match.bits(), 15u);
    EXPECT_EQ(match.least_length(), wanted.least);
    EXPECT_EQ(match.extra_bits(), wanted.extra_bits) << wanted.symbol;
    EXPECT_EQ(match.word & 0xFF00'0000U, SymbolEntry::kIsRare | SymbolEntry::kIsLong);
  }
  EXPECT_EQ(SymbolEntry::of(286, 8).word, SymbolEntry::kIsRare);
  EXPECT_EQ(SymbolEntry::of(287, 8).word, SymbolEntry::kIsRare);
}

TEST(DistanceEntry, TellsWhatASymbolMeans) {
  struct Distance {
    std::uint32_t symbol, least, extra_bits;
  };
  for (Distance const wanted :
       {Distance{0, 1, 0}, Distance{3, 4, 0}, Distance{4, 5, 1}, Distance{5, 7, 1}, Distance{6, 9, 2},
        Distance{15, 193, 6}, Distance{28, 16385, 13}, Distance{29, 24577, 13}}) {
    DistanceEntry const entry = DistanceEntry::of(wanted.symbol, 15);
    EXPECT_EQ(entry.code_bits(), 15u);
    EXPECT_EQ(entry.bits(), 15 + wanted.extra_bits);
    EXPECT_EQ(entry.least(), wanted.least);
    EXPECT_EQ(entry.word & DistanceEntry::kIsRare, 0u);
  }
  for (std::uint32_t const symbol : {30U, 31U}) {
    EXPECT_EQ(DistanceEntry::of(symbol, 5).word, DistanceEntry::kIsRare);
    EXPECT_EQ(DistanceEntry::of(symbol, 5).link(), 0u);
  }
}

// The symbol whose code the bits begin with, found by trying them all.
std::uint32_t symbol_of(std::span<std::uint8_t const> lengths, std::span<std::uint16_t const> codes, std::size_t bits) {
  std::uint32_t symbol = 0;
  while (lengths[symbol] == 0 || (bits & ((1U << lengths[symbol]) - 1)) != codes[symbol]) { ++symbol; }
  return symbol;
}

// For every 15 bits that there can be.
void expect_tells_all(DeflateTables const& tables, DeflateLengths const& lengths) {
  std::array<std::uint16_t, DeflateLengths::kSymbols> codes;
  std::array<std::uint16_t, DeflateLengths::kDistances> distance_codes;
  huffman_codes(lengths.symbols, codes);
  huffman_codes(lengths.distances, distance_codes);
  for (std::size_t bits = 0; bits < 1U << 15; ++bits) {
    std::uint32_t const symbol = symbol_of(lengths.symbols, codes, bits);
    std::uint32_t const taken = lengths.symbols[symbol];
    SymbolEntry const wanted = SymbolEntry::of(symbol, taken), entry = tables.symbols.first(bits);
    if (taken > tables.symbols.kFirstBits) {
      ASSERT_EQ(entry.word & ~0x00FF'FF00U, SymbolEntry::kIsRare | SymbolEntry::kIsLink) << bits;
      ASSERT_EQ(tables.symbols.second(entry, bits).word, wanted.word) << bits;
    } else if (entry.literals() != 0 && (entry.word & SymbolEntry::kHasMatch) != 0) {
      std::uint32_t const next = symbol_of(lengths.symbols, codes, bits >> taken);
      ASSERT_EQ(entry.word, (SymbolEntry::of(next, taken + lengths.symbols[next]).word | (wanted.word & ~0xFFU)))
          << bits;
      ASSERT_LE(entry.bits(), tables.symbols.kFirstBits);
    } else {
      ASSERT_EQ(entry.word, wanted.word) << bits;
    }
    std::uint32_t const distance = symbol_of(lengths.distances, distance_codes, bits);
    DistanceEntry told = tables.distances.first(bits);
    if (lengths.distances[distance] > tables.distances.kFirstBits) {
      ASSERT_NE(told.link(), 0u) << bits;
      ASSERT_EQ(told.word & ~0x00FF'FF00U, DistanceEntry::kIsRare) << bits;
      told = tables.distances.second(told, bits);
    }
    ASSERT_EQ(told.word, DistanceEntry::of(distance, lengths.distances[distance]).word) << bits;
  }
}

TEST(DeflateTables, TellTheSymbolsOfAnyCode) {
  std::mt19937 random(5);
  auto const tables = std::make_unique<DeflateTables>();
  for (int i = 0; i < 20; ++i) {
    DeflateLengths const lengths = any_lengths(random);
    ASSERT_TRUE(tables->make(lengths));
    expect_tells_all(*tables, lengths);
  }
  DeflateLengths fixed;
  fixed.set_fixed();
  ASSERT_TRUE(tables->make(fixed));
  expect_tells_all(*tables, fixed);
}

// Two codes of a bit more than the first table has, again and again, and as few others as make a code of it.
void set_pairs(std::span<std::uint8_t> lengths, std::uint32_t first_bits, std::size_t pairs) {
  std::ranges::fill(lengths.first(2 * pairs), static_cast<std::uint8_t>(first_bits + 1));
  std::size_t next = 2 * pairs, left = (std::size_t{1} << first_bits) - pairs;
  for (std::uint32_t bits = first_bits; left != 0; --bits, left /= 2) {
    if (left % 2 != 0) { lengths[next++] = static_cast<std::uint8_t>(bits); }
  }
}

TEST(DeflateTables, HaveRoomForAsManyLinksAsThereCanBe) {
  auto const tables = std::make_unique<DeflateTables>();
  DeflateLengths lengths;
  set_pairs(lengths.symbols, tables->symbols.kFirstBits, 140);
  set_pairs(lengths.distances, tables->distances.kFirstBits, 12);
  ASSERT_TRUE(tables->make(lengths));
  expect_tells_all(*tables, lengths);
}

TEST(DeflateTables, JoinALiteralWithTheShortMatchBehindItWhereBothFit) {
  auto const tables = std::make_unique<DeflateTables>();
  // A literal of 1 bit, matches of 3 to 8 and of 9 in codes of 2, 4, ...: 1 + 10 bits are seen at once, 1 + 11 are not.
  DeflateLengths const lengths = lengths_of({{'a', 1},
                                             {257, 2},
                                             {263, 3},
                                             {256, 4},
                                             {'b', 5},
                                             {258, 6},
                                             {259, 7},
                                             {260, 8},
                                             {'c', 9},
                                             {262, 10},
                                             {261, 11},
                                             {'d', 11}},
                                            {{0, 1}, {1, 1}});
  ASSERT_TRUE(tables->make(lengths));
  expect_tells_all(*tables, lengths);
  auto const entry_of = [&](std::initializer_list<std::size_t> symbols) {
    DeflateBuilder builder;
    builder.begin(lengths, true);
    std::size_t const from = builder.at_bit();
    for (std::size_t const symbol : symbols) { builder.symbol(symbol); }
    return tables->symbols.first(ForwardBits(builder.stream(), from).peek());
  };
  for (auto const& [symbol, length] : {std::pair{257U, 3U}, {258U, 4U}, {259U, 5U}, {260U, 6U}, {262U, 8U}}) {
    SymbolEntry const entry = entry_of({'a', symbol});
    EXPECT_EQ(entry.literals(), 1u);
    EXPECT_EQ(entry.literal(), std::uint32_t{'a'});
    EXPECT_EQ(entry.length(), length);
    EXPECT_EQ(entry.bits(), 1U + lengths.symbols[symbol]);
    EXPECT_EQ(entry.word & (SymbolEntry::kHasMatch | SymbolEntry::kIsRare), SymbolEntry::kHasMatch);
  }
  EXPECT_EQ(entry_of({'a', 261}).word, SymbolEntry::of('a', 1).word);  // 12 bits
  EXPECT_EQ(entry_of({'a', 263}).word, SymbolEntry::of('a', 1).word);  // not short
  EXPECT_EQ(entry_of({'a', 256}).word, SymbolEntry::of('a', 1).word);  // not a match
  EXPECT_EQ(entry_of({'a', 'a', 257}).word, SymbolEntry::of('a', 1).word);  // another literal first
  EXPECT_EQ(entry_of({257, 257}).word, SymbolEntry::of(257, 2).word);  // its distance comes first
}

TEST(DeflateTables, AreNotMadeOfCodesThatAreNotComplete) {
  auto const tables = std::make_unique<DeflateTables>();
  auto const makes = [&](Codes symbols, Codes distances) { return tables->make(lengths_of(symbols, distances)); };
  Codes const complete = {{0, 1}, {1, 2}, {2, 3}, {3, 3}};
  EXPECT_TRUE(makes(complete, complete));
  for (Codes const other : std::initializer_list<Codes>{
           {},
           {{0, 1}},
           {{0, 15}},
           {{0, 1}, {1, 2}, {2, 3}},
           {{0, 1}, {1, 2}, {2, 3}, {3, 4}},
           {{0, 1}, {1, 1}, {2, 1}},
           {{0, 1}, {1, 1}, {2, 15}},
           {{0, 1}, {1, 1}, {2, 1}, {3, 1}},
       }) {
    EXPECT_FALSE(makes(other, complete));
    EXPECT_FALSE(makes(complete, other));
  }
}

}  // namespace
}  // namespace terrazzo::codec::testing
