// SPDX-License-Identifier: Apache-2.0
#include "codec/zstd/decoder_tables.hpp"

#include "codec/zstd/decoder_bits.hpp"
#include "coding/zstd/format.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace terrazzo::codec {

namespace {

constexpr std::uint32_t kMostCells = 1U << SequenceTable::kMostBits;
constexpr std::uint32_t kMostSymbols = coding::kZstdMatchLengthCodes;  // symbols of a table of sequences
constexpr std::uint32_t kLeastTableBits = 5;

// The cells of each symbol. A share of -1 is one cell at the table's end.
struct Shares {
  std::array<std::int16_t, 256> of;
  std::uint32_t symbols = 0;
  std::uint32_t bits = 0;
};

[[nodiscard]] std::uint32_t bit_width(std::uint32_t value) noexcept {
  return static_cast<std::uint32_t>(std::bit_width(value));
}

// Bits from the lowest of the first byte on; zeros past the end.
class ForwardBits {
 public:
  explicit ForwardBits(std::span<std::byte const> in) noexcept : in_(in) {}

  [[nodiscard]] std::uint32_t peek(std::uint32_t count) const noexcept {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4 && at_ / 8 + i < in_.size(); ++i) {
      value |= std::to_integer<std::uint32_t>(in_[at_ / 8 + i]) << (8 * i);
    }
    return value >> (at_ % 8) & ((1U << count) - 1);  // a description takes at most 10 bits at a time
  }
  void skip(std::uint32_t count) noexcept { at_ += count; }
  [[nodiscard]] std::size_t bytes() const noexcept { return (at_ + 7) / 8; }

 private:
  std::span<std::byte const> in_;
  std::size_t at_ = 0;
};

// Reads the description of a table (4.1.1). Returns its size, 0 if it is invalid.
std::size_t read_shares(std::span<std::byte const> in, std::uint32_t most_bits, std::uint32_t most_symbols,
                        Shares& shares) noexcept {
  ForwardBits bits(in);
  shares.bits = bits.peek(4) + kLeastTableBits;
  bits.skip(4);
  if (shares.bits > most_bits) { return 0; }
  std::uint32_t left = 1U << shares.bits;
  shares.symbols = 0;
  while (left > 0) {
    if (shares.symbols >= most_symbols) { return 0; }
    // Values are 0 to left + 1; the lowest of them are one bit shorter.
    std::uint32_t const width = bit_width(left + 1), half = 1U << (width - 1);
    std::uint32_t const short_values = 2 * half - 2 - left;
    std::uint32_t value = bits.peek(width);
    if ((value & (half - 1)) < short_values) {
      value &= half - 1;
      bits.skip(width - 1);
    } else {
      if (value >= half) { value -= short_values; }
      bits.skip(width);
    }
    auto const share = static_cast<std::int16_t>(static_cast<int>(value) - 1);
    left -= share < 0 ? 1 : static_cast<std::uint32_t>(share);  // a share is at most `left`
    shares.of[shares.symbols++] = share;
    if (share != 0) { continue; }
    for (std::uint32_t zeros = 3; zeros == 3;) {
      zeros = bits.peek(2);
      bits.skip(2);
      if (shares.symbols + zeros > most_symbols) { return 0; }
      std::fill_n(shares.of.begin() + shares.symbols, zeros, std::int16_t{0});
      shares.symbols += zeros;
    }
  }
  return bits.bytes() <= in.size() ? bits.bytes() : 0;
}

// Calls put(cell, symbol, next, next_bits) for every cell (4.1.1).
template <class Put>
void deal_cells(Shares const& shares, Put const& put) noexcept {
  std::uint32_t const size = 1U << shares.bits;
  std::array<std::uint8_t, kMostCells> symbol_of;
  std::array<std::uint16_t, 256> number;  // number of the symbol's next cell, counted from its share on
  std::uint32_t end = size;
  for (std::uint32_t s = 0; s < shares.symbols; ++s) {
    if (shares.of[s] < 0) { symbol_of[--end] = static_cast<std::uint8_t>(s); }
    number[s] = static_cast<std::uint16_t>(shares.of[s] < 0 ? 1 : shares.of[s]);
  }
  std::uint32_t const step = size / 2 + size / 8 + 3, mask = size - 1;
  std::uint32_t cell = 0;
  for (std::uint32_t s = 0; s < shares.symbols; ++s) {
    for (int i = 0; i < shares.of[s]; ++i) {
      symbol_of[cell] = static_cast<std::uint8_t>(s);
      do { cell = (cell + step) & mask; } while (cell >= end);
    }
  }
  for (std::uint32_t i = 0; i < size; ++i) {
    std::uint32_t const symbol = symbol_of[i], mine = number[symbol]++;
    std::uint32_t const next_bits = shares.bits + 1 - bit_width(mine);
    put(i, symbol, (mine << next_bits) - size, next_bits);
  }
}

// Codes of sequences (3.1.1.3.2.1.1): the base value of each, and its extra bits.
struct CodeTable {
  std::array<std::uint32_t, kMostSymbols> base;
  std::array<std::uint8_t, kMostSymbols> extra_bits;
  std::uint32_t symbols;
  std::uint32_t most_bits;
};

constexpr CodeTable make_codes(std::uint32_t plain, std::uint32_t first, std::uint32_t symbols,
                               std::span<std::uint8_t const> extra_bits) {
  CodeTable codes{};
  codes.symbols = symbols;
  codes.most_bits = SequenceTable::kMostBits;
  std::uint32_t base = first;
  for (std::uint32_t s = 0; s < symbols; ++s) {
    codes.base[s] = base;
    codes.extra_bits[s] = s < plain ? std::uint8_t{0} : extra_bits[s - plain];
    base += 1U << codes.extra_bits[s];
  }
  return codes;
}

constexpr std::uint8_t kLiteralLengthBits[] = {1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
constexpr std::uint8_t kMatchLengthBits[] = {1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
constexpr CodeTable kLiteralLengths = make_codes(16, 0, coding::kZstdLiteralLengthCodes, kLiteralLengthBits);
constexpr CodeTable kMatchLengths =
    make_codes(32, coding::kZstdShortestMatch, coding::kZstdMatchLengthCodes, kMatchLengthBits);
// An error in the lists above would show at their ends.
static_assert(kLiteralLengths.base[25] == 64 && kLiteralLengths.base[35] == 65536);
static_assert(kMatchLengths.base[43] == 131 && kMatchLengths.base[52] == 65539);

constexpr CodeTable make_offset_codes() {
  CodeTable codes{};
  codes.symbols = 32;
  codes.most_bits = 8;
  for (std::uint32_t s = 0; s < codes.symbols; ++s) {
    codes.base[s] = 1U << s;
    codes.extra_bits[s] = static_cast<std::uint8_t>(s);
  }
  return codes;
}
constexpr CodeTable kOffsets = make_offset_codes();

// Shares of the predefined tables (3.1.1.3.2.2).
constexpr std::int16_t kPlainLiteralLengths[] = {4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1,  1,  2,  2,
                                                 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1};
constexpr std::int16_t kPlainMatchLengths[] = {1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1,  1,  1,  1,  1,  1,  1, 1,
                                               1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  1,  1,  1,  1,  1,  1, 1,
                                               1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1};
constexpr std::int16_t kPlainOffsets[] = {1, 1, 1, 1, 1, 1, 2, 2, 2, 1,  1,  1,  1,  1, 1,
                                          1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1};

// One of the three tables: its codes, and its predefined form.
struct Kind {
  CodeTable const& codes;
  std::span<std::int16_t const> plain;
  std::uint32_t plain_bits;
};
constexpr Kind kLiteralLengthKind{kLiteralLengths, kPlainLiteralLengths, 6};
constexpr Kind kOffsetKind{kOffsets, kPlainOffsets, 5};
constexpr Kind kMatchLengthKind{kMatchLengths, kPlainMatchLengths, 6};

enum class Mode : std::uint8_t { plain = 0, one_symbol = 1, described = 2, repeated = 3 };

// Reads the table's description from `in`; returns false if it is invalid.
bool read_sequence_table(Kind const& kind, Mode mode, std::span<std::byte const>& in, SequenceTable& table) noexcept {
  CodeTable const& codes = kind.codes;
  if (mode == Mode::one_symbol) {
    if (in.empty() || std::to_integer<std::uint32_t>(in[0]) >= codes.symbols) { return false; }
    auto const symbol = std::to_integer<std::size_t>(in[0]);
    in = in.subspan(1);
    table.bits = 0;
    table.cells[0] = {0, 0, codes.extra_bits[symbol], codes.base[symbol]};
    return true;
  }
  Shares shares;
  if (mode == Mode::plain) {
    std::ranges::copy(kind.plain, shares.of.begin());
    shares.symbols = static_cast<std::uint32_t>(kind.plain.size());
    shares.bits = kind.plain_bits;
  } else {
    std::size_t const bytes = read_shares(in, codes.most_bits, codes.symbols, shares);
    if (bytes == 0) { return false; }
    in = in.subspan(bytes);
  }
  table.bits = shares.bits;
  deal_cells(shares, [&](std::uint32_t cell, std::uint32_t symbol, std::uint32_t next, std::uint32_t next_bits) {
    table.cells[cell] = {static_cast<std::uint16_t>(next), static_cast<std::uint8_t>(next_bits),
                         codes.extra_bits[symbol], codes.base[symbol]};
  });
  return true;
}

}  // namespace

std::size_t read_sequence_tables(std::span<std::byte const> in, SequenceTables& tables) noexcept {
  if (in.empty()) { return 0; }
  auto const modes = std::to_integer<std::uint32_t>(in[0]);
  if ((modes & 3) != 0) { return 0; }  // reserved
  std::span<std::byte const> rest = in.subspan(1);
  auto const read = [&](Kind const& kind, std::uint32_t shift, SequenceTable& table) {
    auto const mode = static_cast<Mode>(modes >> shift & 3);
    return mode == Mode::repeated ? tables.are_told : read_sequence_table(kind, mode, rest, table);
  };
  tables.are_told = read(kLiteralLengthKind, 6, tables.literal_lengths) && read(kOffsetKind, 4, tables.offsets) &&
                    read(kMatchLengthKind, 2, tables.match_lengths);
  return tables.are_told ? in.size() - rest.size() : 0;
}

namespace {

constexpr std::uint32_t kMostWeights = 255;  // plus one that is implied
constexpr std::uint32_t kMostWeightTableBits = 6;

struct Weights {
  std::array<std::uint8_t, kMostWeights + 1> of;
  std::uint32_t count = 0;
};

// Reads weights with two alternating states (4.2.1.2), until the stream is too short for the next one.
bool read_coded_weights(std::span<std::byte const> in, Weights& weights) noexcept {
  Shares shares;
  std::size_t const described = read_shares(in, kMostWeightTableBits, LiteralTable::kMostBits + 1, shares);
  if (described == 0) { return false; }
  struct Cell {
    std::uint8_t weight, next, next_bits;
  };
  std::array<Cell, 1U << kMostWeightTableBits> cells;
  deal_cells(shares, [&](std::uint32_t cell, std::uint32_t symbol, std::uint32_t next, std::uint32_t next_bits) {
    cells[cell] = {static_cast<std::uint8_t>(symbol), static_cast<std::uint8_t>(next),
                   static_cast<std::uint8_t>(next_bits)};
  });
  BackwardBits bits;
  if (!bits.open(in.subspan(described))) { return false; }
  std::uint32_t states[2] = {bits.take(shares.bits), 0};
  states[1] = bits.take(shares.bits);
  if (bits.left() < 0) { return false; }
  for (std::uint32_t turn = 0;; turn ^= 1) {
    if (weights.count + 2 > kMostWeights) { return false; }
    Cell const cell = cells[states[turn]];
    weights.of[weights.count++] = cell.weight;
    if (bits.left() < cell.next_bits) {
      weights.of[weights.count++] = cells[states[turn ^ 1]].weight;
      return true;
    }
    states[turn] = cell.next + bits.take(cell.next_bits);
  }
}

// Four bits per weight. REQUIRES: `in` has all of them.
void read_plain_weights(std::span<std::byte const> in, std::uint32_t count, Weights& weights) noexcept {
  for (std::uint32_t i = 0; i < count; ++i) {
    auto const both = std::to_integer<std::uint32_t>(in[i / 2]);
    weights.of[i] = static_cast<std::uint8_t>(i % 2 == 0 ? both >> 4 : both & 15U);
  }
  weights.count = count;
}

}  // namespace

std::size_t read_literal_table(std::span<std::byte const> in, LiteralTable& table) noexcept {
  if (in.empty()) { return 0; }
  auto const head = std::to_integer<std::uint32_t>(in[0]);
  bool const is_plain = head >= 128;
  std::size_t const bytes = 1 + (is_plain ? (head - 127 + 1) / 2 : head);
  if (in.size() < bytes || bytes == 1) { return 0; }
  Weights weights;
  std::span<std::byte const> const told = in.subspan(1, bytes - 1);
  if (is_plain) {
    read_plain_weights(told, head - 127, weights);
  } else if (!read_coded_weights(told, weights)) {
    return 0;
  }

  // The last weight completes the sum of the others to a power of two (4.2.1).
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < weights.count; ++i) {
    if (weights.of[i] > LiteralTable::kMostBits) { return 0; }
    sum += 1U << weights.of[i] >> 1;
  }
  std::uint32_t const longest = bit_width(sum);
  if (sum == 0 || longest > LiteralTable::kMostBits) { return 0; }
  std::uint32_t const rest = (1U << longest) - sum;
  if (!std::has_single_bit(rest)) { return 0; }
  weights.of[weights.count++] = static_cast<std::uint8_t>(bit_width(rest));

  // The longest codes have the lowest values; equal lengths are sorted by symbol (4.2.1.1). There are at least two of
  // the longest.
  std::array<std::uint32_t, LiteralTable::kMostBits + 2> of_weight{};
  for (std::uint32_t i = 0; i < weights.count; ++i) { ++of_weight[weights.of[i]]; }
  if (of_weight[1] < 2) { return 0; }
  std::array<std::uint32_t, LiteralTable::kMostBits + 2> begin{};
  std::uint32_t const widen = LiteralTable::kMostBits - longest;
  for (std::uint32_t w = 1; w <= LiteralTable::kMostBits; ++w) {
    begin[w + 1] = begin[w] + (of_weight[w] << (w - 1) << widen);
  }
  for (std::uint32_t symbol = 0; symbol < weights.count; ++symbol) {
    std::uint32_t const weight = weights.of[symbol];
    if (weight == 0) { continue; }
    std::uint32_t const count = 1U << (weight - 1) << widen;
    auto const entry = static_cast<std::uint16_t>((longest + 1 - weight) | symbol << 8);
    std::fill_n(table.entries.begin() + begin[weight], count, entry);
    begin[weight] += count;
  }
  return bytes;
}

}  // namespace terrazzo::codec
