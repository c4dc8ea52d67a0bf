// SPDX-License-Identifier: Apache-2.0
#include "codec/deflate/block_writer.hpp"

#include "codec/deflate/encoder_huffman.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace terrazzo::codec {

namespace {

using coding::DeflateSymbol;

constexpr std::size_t kLiteralSymbols = coding::kDeflateLiteralSymbols,
                      kDistanceSymbols = coding::kDeflateDistanceSymbols,
                      kLengthCodeSymbols = coding::kDeflateRunSymbols;
constexpr std::size_t kEndOfBlock = coding::kDeflateEndOfBlock, kFirstLength = coding::kDeflateFirstLength;
constexpr unsigned kLiteralLimit = 14;  // four of them and seven pending bits fit in 64
constexpr unsigned kDistanceLimit = coding::kDeflateMostBits, kLengthCodeLimit = coding::kDeflateMostRunBits;

// The header stores lengths of the code for lengths in a special order.
std::size_t stored_run(std::size_t place) noexcept { return coding::run_symbol_at(static_cast<std::uint32_t>(place)); }

DeflateSymbol distance_symbol(DeflateMatch const& match) noexcept {
  return coding::distance_symbol(match.distance_less_one + 1U);
}

struct Run {
  std::uint8_t symbol, extra;
};

struct Code {
  std::uint32_t bits, count;
};

// Collects bits in registers: with members, the compiler would assume that every byte store changes them.
class BitSink {
 public:
  BitSink(std::byte* out, std::uint64_t bits, unsigned count) noexcept : out_(out), bits_(bits), count_(count) {}

  void put(std::uint64_t bits, unsigned count) noexcept {
    bits_ |= bits << count_;
    count_ += count;
  }
  void put(Code code) noexcept { put(code.bits, code.count); }

  // Always stores eight bytes; fewer than eight bits remain pending.
  void flush() noexcept {
    std::memcpy(out_, &bits_, sizeof bits_);
    out_ += count_ / 8;
    bits_ >>= count_ & ~7U;
    count_ &= 7U;
  }

  [[nodiscard]] std::byte* out() const noexcept { return out_; }
  [[nodiscard]] std::uint64_t bits() const noexcept { return bits_; }
  [[nodiscard]] unsigned count() const noexcept { return count_; }

 private:
  std::byte* out_;
  std::uint64_t bits_;
  unsigned count_;
};

}  // namespace

struct DeflateBlockWriter::Codes {
  std::array<Code, 256> literals;                // the first of the codes below, contiguous
  std::array<Code, kLongestMatch + 1> match_lengths{};  // with their extra bits, by the length of a match
  std::array<std::uint8_t, kLiteralSymbols> literal_lengths;
  std::array<std::uint16_t, kLiteralSymbols> literal_codes;
  std::array<std::uint8_t, kDistanceSymbols> distance_lengths;
  std::array<std::uint16_t, kDistanceSymbols> distance_codes;
  std::array<std::uint8_t, kLengthCodeSymbols> run_lengths;
  std::array<std::uint16_t, kLengthCodeSymbols> run_codes;
  std::array<Run, kLiteralSymbols + kDistanceSymbols> runs;
  std::size_t run_count = 0, literal_count = kLiteralSymbols, distance_count = kDistanceSymbols, stored_runs = 0;
  std::uint64_t bits = 0;  // bits of the whole block

  void count(std::span<std::byte const> bytes, std::span<DeflateMatch const> matches) noexcept;
  void describe() noexcept;
  void add_runs(std::uint8_t length, std::size_t count) noexcept;
};

void DeflateBlockWriter::Codes::count(std::span<std::byte const> bytes,
                                      std::span<DeflateMatch const> matches) noexcept {
  // Several tables: repeated increments of one counter would wait for each other.
  std::array<std::array<std::uint32_t, kLiteralSymbols>, 4> counts{};
  std::array<std::uint32_t, kDistanceSymbols> distances{};
  std::uint64_t extra_bits = 0;
  auto const count_literals = [&](std::span<std::byte const> run) {
    std::size_t i = 0;
    for (; i + 4 <= run.size(); i += 4) {
      for (std::size_t k = 0; k < 4; ++k) { ++counts[k][std::to_integer<std::size_t>(run[i + k])]; }
    }
    for (; i < run.size(); ++i) { ++counts[0][std::to_integer<std::size_t>(run[i])]; }
  };
  std::size_t at = 0;
  for (DeflateMatch const& match : matches) {
    count_literals(bytes.subspan(at, match.literals));
    at += match.literals + match.length;
    DeflateSymbol const length = coding::length_symbol(match.length), distance = distance_symbol(match);
    ++counts[0][kFirstLength + length.symbol];
    ++distances[distance.symbol];
    extra_bits += length.extra_bits + distance.extra_bits;
  }
  count_literals(bytes.subspan(at));
  counts[0][kEndOfBlock] = 1;
  for (std::size_t i = 0; i < kLiteralSymbols; ++i) { counts[0][i] += counts[1][i] + counts[2][i] + counts[3][i]; }
  huffman_lengths(counts[0], kLiteralLimit, literal_lengths);
  huffman_lengths(distances, kDistanceLimit, distance_lengths);
  huffman_codes(literal_lengths, literal_codes);
  huffman_codes(distance_lengths, distance_codes);
  for (std::size_t i = 0; i < literals.size(); ++i) { literals[i] = {literal_codes[i], literal_lengths[i]}; }
  for (std::uint32_t i = coding::kDeflateShortestMatch; i < match_lengths.size(); ++i) {
    DeflateSymbol const length = coding::length_symbol(i);
    std::size_t const symbol = kFirstLength + length.symbol;
    match_lengths[i] = {literal_codes[symbol] | length.extra << literal_lengths[symbol],
                        literal_lengths[symbol] + length.extra_bits};
  }
  bits = extra_bits;
  for (std::size_t i = 0; i < kLiteralSymbols; ++i) { bits += std::uint64_t{counts[0][i]} * literal_lengths[i]; }
  for (std::size_t i = 0; i < kDistanceSymbols; ++i) { bits += std::uint64_t{distances[i]} * distance_lengths[i]; }
}

void DeflateBlockWriter::Codes::add_runs(std::uint8_t length, std::size_t count) noexcept {
  auto const add = [&](std::uint8_t symbol, std::size_t extra) {
    runs[run_count++] = {symbol, static_cast<std::uint8_t>(extra)};
  };
  if (length == 0) {
    for (; count >= 11; count -= std::min<std::size_t>(count, 138)) { add(18, std::min<std::size_t>(count, 138) - 11); }
    if (count >= 3) {
      add(17, count - 3);
      count = 0;
    }
  } else {
    add(length, 0);
    --count;
    for (; count >= 3; count -= std::min<std::size_t>(count, 6)) { add(16, std::min<std::size_t>(count, 6) - 3); }
  }
  for (; count > 0; --count) { add(length, 0); }
}

void DeflateBlockWriter::Codes::describe() noexcept {
  while (literal_count > kFirstLength && literal_lengths[literal_count - 1] == 0) { --literal_count; }
  while (distance_count > 1 && distance_lengths[distance_count - 1] == 0) { --distance_count; }
  std::array<std::uint8_t, kLiteralSymbols + kDistanceSymbols> lengths;
  std::copy_n(literal_lengths.begin(), literal_count, lengths.begin());
  std::copy_n(distance_lengths.begin(), distance_count, lengths.begin() + static_cast<std::ptrdiff_t>(literal_count));
  std::size_t const total = literal_count + distance_count;
  for (std::size_t i = 0; i < total;) {
    std::size_t end = i + 1;
    while (end < total && lengths[end] == lengths[i]) { ++end; }
    add_runs(lengths[i], end - i);
    i = end;
  }
  std::array<std::uint32_t, kLengthCodeSymbols> counts{};
  for (std::size_t i = 0; i < run_count; ++i) { ++counts[runs[i].symbol]; }
  huffman_lengths(counts, kLengthCodeLimit, run_lengths);
  huffman_codes(run_lengths, run_codes);
  stored_runs = kLengthCodeSymbols;
  while (stored_runs > 4 && run_lengths[stored_run(stored_runs - 1)] == 0) { --stored_runs; }
  bits += 3 + 5 + 5 + 4 + 3 * stored_runs;
  for (std::size_t i = 0; i < run_count; ++i) {
    bits += run_lengths[runs[i].symbol] + coding::run_extra_bits(runs[i].symbol);
  }
}

void DeflateBlockWriter::flush() noexcept {
  std::memcpy(out_.data() + at_, &bits_, sizeof bits_);
  at_ += bit_count_ / 8;
  bits_ >>= bit_count_ & ~7U;
  bit_count_ &= 7U;
}

void DeflateBlockWriter::write_header(Codes const& codes, bool last) noexcept {
  put(last ? 1 : 0, 1);
  put(2, 2);
  put(codes.literal_count - kFirstLength, 5);
  put(codes.distance_count - 1, 5);
  put(codes.stored_runs - 4, 4);
  for (std::size_t i = 0; i < codes.stored_runs; ++i) {
    flush();
    put(codes.run_lengths[stored_run(i)], 3);
  }
  for (std::size_t i = 0; i < codes.run_count; ++i) {
    flush();
    Run const run = codes.runs[i];
    put(codes.run_codes[run.symbol], codes.run_lengths[run.symbol]);
    put(run.extra, coding::run_extra_bits(run.symbol));
  }
  flush();
}

void DeflateBlockWriter::write_body(Codes const& codes, std::span<std::byte const> bytes,
                                    std::span<DeflateMatch const> matches) noexcept {
  BitSink sink(out_.data() + at_, bits_, bit_count_);
  auto const put_literals = [&](std::byte const* from, std::byte const* end) {
    auto const code = [&](std::size_t i) { return codes.literals[std::to_integer<std::size_t>(from[i])]; };
    for (; end - from >= 4; from += 4) {
      Code const a = code(0), b = code(1), c = code(2), d = code(3);
      // Two and two, to shorten the dependency chain.
      std::uint64_t const first = a.bits | std::uint64_t{b.bits} << a.count;
      std::uint64_t const second = c.bits | std::uint64_t{d.bits} << c.count;
      unsigned const first_count = a.count + b.count;
      sink.put(first | second << first_count, first_count + c.count + d.count);
      sink.flush();
    }
    if (from == end) { return; }
    for (; from != end; ++from) { sink.put(code(0)); }
    sink.flush();
  };
  std::byte const* at = bytes.data();
  for (DeflateMatch const& match : matches) {
    put_literals(at, at + match.literals);
    at += match.literals + match.length;
    DeflateSymbol const distance = distance_symbol(match);
    // 14 bits and 5, 15 and 13, and seven pending.
    sink.put(codes.match_lengths[match.length]);
    sink.put(codes.distance_codes[distance.symbol], codes.distance_lengths[distance.symbol]);
    sink.put(distance.extra, distance.extra_bits);
    sink.flush();
  }
  put_literals(at, bytes.data() + bytes.size());
  sink.put(codes.literal_codes[kEndOfBlock], codes.literal_lengths[kEndOfBlock]);
  sink.flush();
  at_ = static_cast<std::size_t>(sink.out() - out_.data());
  bits_ = sink.bits();
  bit_count_ = sink.count();
}

bool DeflateBlockWriter::write(std::span<std::byte const> bytes, std::span<DeflateMatch const> matches,
                               bool last) noexcept {
  Codes codes;
  codes.count(bytes, matches);
  codes.describe();
  std::ranges::copy(std::span(codes.literal_lengths).first(cost_.literal_bits.size()), cost_.literal_bits.begin());
  cost_.block_bits = codes.bits;
  // flush() always stores eight bytes.
  if (at_ + codes.bits / 8 + 2 * sizeof bits_ > out_.size()) { return false; }
  write_header(codes, last);
  write_body(codes, bytes, matches);
  return true;
}

std::size_t DeflateBlockWriter::finish() noexcept {
  if (bit_count_ > 0) {
    bit_count_ = 8;
    flush();
  }
  return at_;
}

}  // namespace terrazzo::codec
