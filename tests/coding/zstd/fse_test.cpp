// SPDX-License-Identifier: Apache-2.0
#include "coding/zstd/fse.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace terrazzo::coding {
namespace {

// Bits of a stream from its first on.
class Reader {
 public:
  explicit Reader(std::uint32_t const* words) : words_(words) {}
  std::uint32_t take(std::uint32_t count) {
    std::uint32_t value = 0;
    for (std::uint32_t i = 0; i < count; ++i, ++at_) { value |= (words_[at_ / 32] >> (at_ % 32) & 1U) << i; }
    return value;
  }
  [[nodiscard]] std::uint32_t at() const { return at_; }

 private:
  std::uint32_t const* words_;
  std::uint32_t at_ = 0;
};

// RFC 8878, 4.1.1, by its words: shares from a description; checks where it ends.
std::vector<std::uint32_t> described_shares(FseTable const& table) {
  Reader reader(table.description);
  std::uint32_t const bits = reader.take(4) + 5;
  EXPECT_EQ(bits, table.bits);
  std::vector<std::uint32_t> shares;
  for (std::uint32_t left = 1U << bits; left > 0;) {
    std::uint32_t const most = left + 1;  // of the value
    std::uint32_t width = 0;
    while (1U << width <= most) { ++width; }
    std::uint32_t const short_values = (1U << width) - 1 - most;
    Reader ahead = reader;
    std::uint32_t value = ahead.take(width - 1);
    if (value < short_values) {
      reader = ahead;
    } else {
      value = reader.take(width);
      if (value >= 1U << (width - 1)) { value -= short_values; }
    }
    EXPECT_GE(value, 1u) << "a share of less than one is not used";
    shares.push_back(value - 1);
    left -= value - 1;
    if (value != 1) { continue; }
    for (std::uint32_t zeros = 3; zeros == 3;) {
      zeros = reader.take(2);
      shares.insert(shares.end(), zeros, 0U);
    }
  }
  EXPECT_EQ((reader.at() + 7) / 8, table.description_bytes);
  return shares;
}

// A decoder's table (4.1.1): cells dealt out symbol by symbol, then states numbered in the order of cells.
struct Cell {
  std::uint32_t symbol, bits, base;
};
std::vector<Cell> decoder_cells(std::vector<std::uint32_t> const& shares, std::uint32_t bits) {
  std::uint32_t const size = 1U << bits;
  std::vector<Cell> cells(size);
  std::uint32_t at = 0;
  for (std::uint32_t s = 0; s < shares.size(); ++s) {
    for (std::uint32_t i = 0; i < shares[s]; ++i) {
      cells[at].symbol = s;
      at = (at + (size >> 1) + (size >> 3) + 3) & (size - 1);
    }
  }
  EXPECT_EQ(at, 0u) << "the shares do not fill the table";
  std::vector<std::uint32_t> next = shares;
  for (Cell& cell : cells) {
    std::uint32_t const number = next[cell.symbol]++;
    cell.bits = bits + 1 - bits_of(number);
    cell.base = (number << cell.bits) - size;
  }
  return cells;
}

struct Message {
  std::vector<std::uint32_t> symbols, counts = std::vector<std::uint32_t>(kFseMostSymbols);
  void add(std::uint32_t symbol) {
    symbols.push_back(symbol);
    ++counts[symbol];
  }
};

// Makes a table, puts the message, reads it back with a decoder made of the description; returns the bits.
std::uint64_t expect_round_trip(Message const& message, std::uint32_t symbols, std::uint32_t most_bits) {
  FseTable table{};
  auto const total = static_cast<std::uint32_t>(message.symbols.size());
  table.look_at(message.counts.data(), symbols, total, most_bits);
  EXPECT_GE(table.used, 2u);
  EXPECT_LE(table.bits, most_bits);
  table.share_out(message.counts.data(), total);
  table.describe();
  for (std::uint32_t cell = 0; cell < table.size(); ++cell) { table.fill_cell(cell); }
  std::vector<std::uint32_t> const shares = described_shares(table);
  for (std::uint32_t s = 0; s < symbols; ++s) {
    EXPECT_EQ(s < shares.size() && shares[s] != 0, message.counts[s] != 0) << "symbol " << s;
  }
  std::vector<Cell> const cells = decoder_cells(shares, table.bits);
  std::vector<std::uint32_t> written;
  std::uint32_t state = table.first_state(message.symbols.back());
  for (std::size_t i = message.symbols.size() - 1; i-- > 0;) {
    written.push_back(table.go(table.symbols[message.symbols[i]], state));
  }
  state -= table.size();
  std::uint64_t bits = table.bits;
  for (std::size_t i = 0; i < message.symbols.size(); ++i) {
    EXPECT_EQ(cells[state].symbol, message.symbols[i]) << "at " << i;
    if (i + 1 == message.symbols.size()) { break; }
    std::uint32_t const word = written[written.size() - 1 - i];
    EXPECT_EQ(word >> FseTable::kCountShift, cells[state].bits);
    bits += cells[state].bits;
    state = cells[state].base + (word & ((1U << FseTable::kCountShift) - 1));
    if (state >= cells.size() || ::testing::Test::HasFailure()) {
      ADD_FAILURE() << "left the table at " << i;
      return 0;
    }
  }
  return bits;
}

TEST(ZstdFse, GivesBackMessagesOfAnyShape) {
  std::mt19937 engine(3);
  for (std::uint32_t trial = 0; trial < 400; ++trial) {
    std::uint32_t const symbols = 2 + static_cast<std::uint32_t>(engine() % 52);
    std::uint32_t const most_bits = trial % 3 == 0 && symbols < 50 ? 6 : trial % 3 == 1 ? 7 : 8;
    std::uint32_t const gap = 1 + static_cast<std::uint32_t>(engine() % 9);
    Message message;
    message.add(symbols - 1);
    message.add(0);
    auto const length = static_cast<std::uint32_t>(engine() % (trial % 2 == 0 ? 60 : 6000));
    for (std::uint32_t i = 0; i < length; ++i) {
      auto const random = static_cast<std::uint32_t>(engine());
      std::uint32_t const symbol = trial % 5 == 0 ? trailing_zeros(random | 1U << 20) : random % symbols;
      message.add(symbol / gap * gap % symbols);
    }
    expect_round_trip(message, symbols, most_bits);
    if (HasFailure()) { FAIL() << "trial " << trial << ", " << symbols << " symbols, " << length << " long"; }
  }
}

TEST(ZstdFse, TakesEverySymbolOfTheLongestAlphabetOnce) {
  Message message;
  for (std::uint32_t s = 0; s < 53; ++s) { message.add(s); }
  expect_round_trip(message, 53, 8);
}

TEST(ZstdFse, SharesOutWhatRareSymbolsTake) {
  // 50 symbols that occur once leave 14 of 64 cells to the one that occurs ten thousand times.
  Message message;
  for (std::uint32_t i = 0; i < 10'000; ++i) { message.add(7); }
  for (std::uint32_t s = 0; s < 51; ++s) {
    if (s != 7) { message.add(s); }
  }
  expect_round_trip(message, 53, 6);
}

TEST(ZstdFse, ComesNearTheEntropy) {
  std::mt19937 engine(8);
  Message message;
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    message.add(trailing_zeros(static_cast<std::uint32_t>(engine()) | 1U << 12));
  }
  double entropy = 0;
  for (std::uint32_t const count : message.counts) {
    if (count != 0) { entropy += count * std::log2(20'000.0 / count); }
  }
  EXPECT_LT(static_cast<double>(expect_round_trip(message, 53, 8)), 1.01 * entropy + 20);
}

TEST(ZstdFse, LeavesOneSymbolToOthers) {
  FseTable table{};
  std::uint32_t counts[kFseMostSymbols] = {};
  table.look_at(counts, 36, 0, 8);
  EXPECT_EQ(table.used, 0u);
  EXPECT_EQ(table.bits, 0u);
  counts[17] = 40;
  table.look_at(counts, 36, 40, 8);
  EXPECT_EQ(table.used, 1u);
  EXPECT_EQ(table.only, 17u);
  EXPECT_EQ(table.bits, 0u);
}

}  // namespace
}  // namespace terrazzo::coding
