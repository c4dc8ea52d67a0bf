// SPDX-License-Identifier: Apache-2.0
#include "codec/deflate/decoder_tables.hpp"

#include "codec/deflate/encoder_huffman.hpp"

#include <algorithm>

namespace terrazzo::codec {

namespace {

constexpr std::uint32_t kMostBits = coding::kDeflateMostBits, kMostRunBits = coding::kDeflateMostRunBits;

[[nodiscard]] bool is_complete(std::span<std::uint8_t const> lengths, std::uint32_t most_bits) noexcept {
  std::uint32_t taken = 0;
  for (std::uint8_t const bits : lengths) { taken += bits == 0 ? 0 : 1U << (most_bits - bits); }
  return taken == 1U << most_bits;
}

template <class Entry, std::uint32_t kBits, std::size_t kSymbols>
void fill(DeflateTable<Entry, kBits, kSymbols>& table, std::span<std::uint8_t const, kSymbols> lengths) noexcept {
  using Table = DeflateTable<Entry, kBits, kSymbols>;
  constexpr std::size_t kEntries = Table::kEntries, kMore = std::size_t{1} << Table::kMoreBits;
  std::array<std::uint16_t, kSymbols> codes;
  huffman_codes(lengths, codes);
  std::array<std::uint16_t, kEntries> links{};
  std::size_t next_link = kEntries;
  for (std::uint32_t symbol = 0; symbol < kSymbols; ++symbol) {
    std::uint32_t const bits = lengths[symbol], code = codes[symbol];
    if (bits == 0) { continue; }
    Entry const entry = Entry::of(symbol, bits);
    if (bits <= kBits) {
      for (std::size_t i = code; i < kEntries; i += std::size_t{1} << bits) { table.entries[i] = entry; }
      continue;
    }
    std::uint16_t& link = links[code & (kEntries - 1)];
    if (link == 0) {
      link = static_cast<std::uint16_t>(next_link);
      table.entries[code & (kEntries - 1)] = Entry::to(link);
      next_link += kMore;
    }
    for (std::size_t i = code >> kBits; i < kMore; i += std::size_t{1} << (bits - kBits)) {
      table.entries[link + i] = entry;
    }
  }
}

// Joins literals with the matches that follow them.
void join_matches(decltype(DeflateTables::symbols)& table) noexcept {
  constexpr std::uint32_t kOfLiteral = SymbolEntry::kLiteral | SymbolEntry::kHasLiteral;
  constexpr std::uint32_t kOfMatch = SymbolEntry::kLength | SymbolEntry::kHasMatch;
  constexpr std::uint32_t kKind = SymbolEntry::kHasLiteral | SymbolEntry::kHasMatch | SymbolEntry::kIsRare;
  // From the last on: the entry that follows a literal precedes it in the table and is not joined yet.
  for (std::size_t i = table.kEntries; i-- > 0;) {
    SymbolEntry const first = table.entries[i];
    SymbolEntry const second = table.entries[i >> first.bits()];
    std::uint32_t const bits = first.bits() + second.bits();
    bool const are_joined = (first.word & kKind) == SymbolEntry::kHasLiteral &&
                            (second.word & kKind) == SymbolEntry::kHasMatch && bits <= table.kFirstBits;
    std::uint32_t const joined = (first.word & kOfLiteral) | (second.word & kOfMatch) | bits;
    table.entries[i].word = are_joined ? joined : first.word;
  }
}

}  // namespace

bool DeflateLengths::read(ForwardBits& bits) noexcept {
  std::size_t const symbol_count = bits.take(5) + 257, distance_count = bits.take(5) + 1;
  std::uint32_t const run_count = bits.take(4) + 4;
  std::array<std::uint8_t, coding::kDeflateRunSymbols> run_lengths{};
  for (std::uint32_t i = 0; i < run_count; ++i) {
    run_lengths[coding::run_symbol_at(i)] = static_cast<std::uint8_t>(bits.take(3));
  }
  if (!is_complete(run_lengths, kMostRunBits)) { return false; }
  std::array<std::uint16_t, coding::kDeflateRunSymbols> run_codes;
  huffman_codes(run_lengths, run_codes);
  struct Run {
    std::uint8_t symbol, bits;
  };
  std::array<Run, std::size_t{1} << kMostRunBits> runs;
  for (std::size_t symbol = 0; symbol < run_codes.size(); ++symbol) {
    if (run_lengths[symbol] == 0) { continue; }
    for (std::size_t i = run_codes[symbol]; i < runs.size(); i += std::size_t{1} << run_lengths[symbol]) {
      runs[i] = {static_cast<std::uint8_t>(symbol), run_lengths[symbol]};
    }
  }
  // The lengths of symbols, then those of distances: a run may continue from one into the other.
  std::array<std::uint8_t, kSymbols + kDistances> lengths{};
  std::size_t const count = symbol_count + distance_count;
  for (std::size_t at = 0; at < count;) {
    Run const run = runs[bits.peek() & (runs.size() - 1)];
    bits.skip(run.bits);
    std::uint32_t const extra = bits.take(coding::run_extra_bits(run.symbol));
    if (run.symbol == 16 && at == 0) { return false; }
    std::uint8_t const length = run.symbol < 16 ? run.symbol : run.symbol == 16 ? lengths[at - 1] : std::uint8_t{0};
    std::size_t const times = run.symbol < 16 ? 1 : extra + (run.symbol == 18 ? 11 : 3);
    if (times > count - at) { return false; }
    std::fill_n(lengths.begin() + static_cast<std::ptrdiff_t>(at), times, length);
    at += times;
  }
  symbols.fill(0);
  distances.fill(0);
  std::copy_n(lengths.begin(), symbol_count, symbols.begin());
  std::copy_n(lengths.begin() + static_cast<std::ptrdiff_t>(symbol_count), distance_count, distances.begin());
  return !bits.is_past_end();
}

void DeflateLengths::set_fixed() noexcept {
  std::fill(symbols.begin(), symbols.begin() + 144, std::uint8_t{8});
  std::fill(symbols.begin() + 144, symbols.begin() + 256, std::uint8_t{9});
  std::fill(symbols.begin() + 256, symbols.begin() + 280, std::uint8_t{7});
  std::fill(symbols.begin() + 280, symbols.end(), std::uint8_t{8});
  distances.fill(5);
}

SymbolEntry SymbolEntry::of(std::uint32_t symbol, std::uint32_t bits) noexcept {
  if (symbol < coding::kDeflateEndOfBlock) { return {bits | symbol << 8 | kHasLiteral}; }
  if (symbol == coding::kDeflateEndOfBlock) { return {bits | kIsRare | kIsEnd}; }
  if (symbol >= coding::kDeflateLiteralSymbols) { return {kIsRare}; }
  std::uint32_t const extra_bits = coding::length_extra_bits(symbol);
  std::uint32_t const least = coding::least_length(symbol);
  if (least <= kLongestShort) { return {bits | least << 16 | kHasMatch}; }
  return {bits | least << 8 | extra_bits << 17 | kIsLong | kIsRare};
}

SymbolEntry SymbolEntry::to(std::size_t place) noexcept {
  return {static_cast<std::uint32_t>(place << 8) | kIsLink | kIsRare};
}

DistanceEntry DistanceEntry::of(std::uint32_t symbol, std::uint32_t bits) noexcept {
  if (symbol >= coding::kDeflateDistanceSymbols) { return {}; }
  return {(bits + coding::distance_extra_bits(symbol)) | bits << 8 | coding::least_distance(symbol) << 16};
}

DistanceEntry DistanceEntry::to(std::size_t place) noexcept {
  return {static_cast<std::uint32_t>(place << 8) | kIsRare};
}

bool DeflateTables::make(DeflateLengths const& lengths) noexcept {
  if (!is_complete(lengths.symbols, kMostBits) || !is_complete(lengths.distances, kMostBits)) { return false; }
  fill(symbols, std::span(lengths.symbols));
  fill(distances, std::span(lengths.distances));
  join_matches(symbols);
  return true;
}

}  // namespace terrazzo::codec
