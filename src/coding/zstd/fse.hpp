// SPDX-License-Identifier: Apache-2.0
//
// Finite state entropy codes (RFC 8878, 4.1): shares of a table for each symbol, the table's description, and the
// sequence of states, which gives each symbol its bits. Steps for one thread, except for the cells of the table, which
// many threads fill.
//
// A table has 2^bits cells; a symbol with share p has p of them. A state is a cell's number + 2^bits. To write a symbol
// before those that are already written, low bits of the state are written until a number from p to 2p - 1 is left; it
// is the index, among the symbol's cells in order, of the new state. A decoder works in the other direction, from the
// last bits on.
#pragma once

#include "coding/deflate/format.hpp"

namespace terrazzo::coding {

// Sequences may have tables of 9 bits (8 for offsets). One bit less costs no size, and decoders build them in half the
// time: libzstd reads elevations 6 % faster.
inline constexpr std::uint32_t kFseMostBits = 8, kFseLeastBits = 5;
inline constexpr std::uint32_t kFseMostSymbols = 56;
inline constexpr std::uint32_t kFseDescriptionWords = 20;

struct FseTable {
  std::uint16_t states[1U << kFseMostBits];  // by symbol, then by cell: the cell's number + 2^bits
  // The share, and the index of the symbol's first state minus the share.
  struct Symbol {
    std::uint16_t share;
    std::int16_t start;
  } symbols[kFseMostSymbols];
  std::uint32_t description[kFseDescriptionWords];
  std::uint32_t description_bytes;
  std::uint32_t bits;  // 0: one symbol, which takes no bits
  std::uint32_t symbol_count;  // up to the last used symbol
  std::uint32_t used;
  std::uint32_t only;  // the last symbol; the only one if `used` is 1

  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t size() const noexcept { return 1U << bits; }

  // Finds the occurring symbols and the size of a table for them.
  TERRAZZO_HOST_DEVICE void look_at(std::uint32_t const* counts, std::uint32_t symbols_there, std::uint32_t total,
                                    std::uint32_t most_bits) noexcept {
    used = symbol_count = bits = only = description_bytes = 0;
    for (std::uint32_t s = 0; s < symbols_there; ++s) {
      if (counts[s] == 0) { continue; }
      ++used;
      symbol_count = s + 1;
    }
    if (used == 0) { return; }
    only = symbol_count - 1;
    if (used == 1) { return; }
    // One cell per four occurrences is precise enough, and every symbol needs a cell.
    std::uint32_t const enough = bits_of(total - 1), least = bits_of(used);
    bits = enough > kFseLeastBits + 2 ? enough - 2 : kFseLeastBits;
    if (bits < least) { bits = least; }
    if (bits > most_bits) { bits = most_bits; }
  }

  // Shares in proportion to the counts, at least 1 for symbols that occur; their sum fills the table. REQUIRES: `used`
  // is at least 2.
  TERRAZZO_HOST_DEVICE void share_out(std::uint32_t const* counts, std::uint32_t total) noexcept {
    std::uint32_t sum = 0, largest = 0;
    for (std::uint32_t s = 0; s < symbol_count; ++s) {
      std::uint32_t share = ((counts[s] << bits) + total / 2) / total;
      if (share == 0 && counts[s] != 0) { share = 1; }
      symbols[s].share = static_cast<std::uint16_t>(share);
      sum += share;
      if (share > symbols[largest].share) { largest = s; }
    }
    if (sum <= size() || sum - size() < symbols[largest].share / 2U) {
      symbols[largest].share = static_cast<std::uint16_t>(symbols[largest].share + size() - sum);
    } else {
      for (; sum > size(); --sum) { --symbols[largest_share()].share; }
    }
    std::uint32_t begin = 0;
    for (std::uint32_t s = 0; s < symbol_count; ++s) {
      symbols[s].start = static_cast<std::int16_t>(static_cast<int>(begin) - symbols[s].share);
      begin += symbols[s].share;
    }
  }

  // Writes the table's description for the decoder (4.1.1). The width of a share depends on the remaining cells.
  TERRAZZO_HOST_DEVICE void describe() noexcept {
    for (std::uint32_t i = 0; i < kFseDescriptionWords; ++i) { description[i] = 0; }
    DeflateBits out(description, 0);
    std::uint32_t put_bits = 0;
    auto const put = [&](std::uint32_t value, std::uint32_t count) {
      out.put(value, count);
      put_bits += count;
    };
    put(bits - kFseLeastBits, 4);
    std::uint32_t left = size();
    for (std::uint32_t s = 0; s < symbol_count;) {
      // Values are 0 to left + 1; the lowest of them are one bit shorter.
      std::uint32_t const width = bits_of(left + 1), half = 1U << (width - 1);
      std::uint32_t const short_values = 2 * half - 2 - left;
      std::uint32_t const share = symbols[s].share, value = share + 1;
      if (value < short_values) {
        put(value, width - 1);
      } else {
        put(value < half ? value : value + short_values, width);
      }
      left -= share;
      ++s;
      if (share != 0) { continue; }
      // The number of zeros that follow, three at a time.
      std::uint32_t zeros = 0;
      while (symbols[s + zeros].share == 0) { ++zeros; }
      s += zeros;
      for (; zeros >= 3; zeros -= 3) { put(3, 2); }
      put(zeros, 2);
    }
    out.finish();
    description_bytes = (put_bits + 7) / 8;
  }

  // Fills one cell of 2^bits, the `order`-th in the order of distribution (4.1.1): cells are visited in steps of an odd
  // number, so the order of a symbol's cells in the table differs from the order of distribution.
  TERRAZZO_HOST_DEVICE void fill_cell(std::uint32_t order) noexcept {
    std::uint32_t const mask = size() - 1, step = size() / 2 + size() / 8 + 3;
    std::uint32_t symbol = 0, end = symbols[0].share;
    while (order >= end) { end += symbols[++symbol].share; }
    std::uint32_t const begin = end - symbols[symbol].share;
    std::uint32_t const cell = order * step & mask;
    std::uint32_t rank = 0;
    for (std::uint32_t other = begin; other < end; ++other) { rank += (other * step & mask) < cell ? 1 : 0; }
    states[begin + rank] = static_cast<std::uint16_t>(size() + cell);
  }

  // A state of the symbol, for the symbol that is written first.
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t first_state(std::uint32_t symbol) const noexcept {
    return states[static_cast<int>(symbols[symbol].share) + symbols[symbol].start];
  }
  // Writes a symbol: returns its bits as bits | count << 12, and sets the next state.
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t go(Symbol entry, std::uint32_t& state) const noexcept {
    std::uint32_t const most = bits + 1 - bits_of(entry.share);
    std::uint32_t const count = (state >> most) < entry.share ? most - 1 : most;
    std::uint32_t const written = (state & ((1U << count) - 1)) | count << kCountShift;
    state = states[static_cast<int>(state >> count) + entry.start];
    return written;
  }

  static constexpr std::uint32_t kCountShift = 12;

 private:
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t largest_share() const noexcept {
    std::uint32_t largest = 0;
    for (std::uint32_t s = 1; s < symbol_count; ++s) {
      if (symbols[s].share > symbols[largest].share) { largest = s; }
    }
    return largest;
  }
};

}  // namespace terrazzo::coding
