// SPDX-License-Identifier: Apache-2.0
//
// Deflate streams for tests, put together by hand: bit by bit, or symbol by symbol with codes of any lengths.
#pragma once

#include "codec/deflate/decoder_tables.hpp"
#include "codec/deflate/encoder_huffman.hpp"
#include "codec/support.hpp"

#include <utility>

namespace terrazzo::codec::testing {

using Codes = std::initializer_list<std::pair<std::size_t, unsigned>>;  // symbols, and how long their codes are

inline DeflateLengths lengths_of(Codes symbols, Codes distances) {
  DeflateLengths lengths;
  for (auto const& [symbol, bits] : symbols) { lengths.symbols[symbol] = static_cast<std::uint8_t>(bits); }
  for (auto const& [symbol, bits] : distances) { lengths.distances[symbol] = static_cast<std::uint8_t>(bits); }
  return lengths;
}

// Codes of all symbols that mean something; how long each is, is left to chance.
inline DeflateLengths any_lengths(std::mt19937& random) {
  std::array<std::uint32_t, coding::kDeflateLiteralSymbols> symbols;
  std::array<std::uint32_t, coding::kDeflateDistanceSymbols> distances;
  for (std::uint32_t& count : symbols) { count = 1U << random() % 22; }
  for (std::uint32_t& count : distances) { count = 1U << random() % 16; }
  DeflateLengths lengths;
  huffman_lengths(symbols, coding::kDeflateMostBits, std::span(lengths.symbols).first(symbols.size()));
  huffman_lengths(distances, coding::kDeflateMostBits, std::span(lengths.distances).first(distances.size()));
  return lengths;
}

class DeflateBuilder {
 public:
  // From the lowest on; those beyond the 64th are zeros.
  DeflateBuilder& put(std::uint64_t value, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i, ++at_bit_, value >>= 1) {
      if (at_bit_ % 8 == 0) { stream_.push_back(std::byte{0}); }
      stream_.back() |= static_cast<std::byte>((value & 1) << at_bit_ % 8);
    }
    return *this;
  }

  DeflateBuilder& stored(Bytes const& bytes, bool is_last) {
    put(is_last ? 1 : 0, 3);
    at_bit_ = 8 * stream_.size();
    put(bytes.size(), 16).put(~bytes.size(), 16);
    stream_.insert(stream_.end(), bytes.begin(), bytes.end());
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    at_bit_ = 8 * stream_.size();
    return *this;
  }
  DeflateBuilder& begin_fixed(bool is_last) {
    DeflateLengths lengths;
    lengths.set_fixed();
    take_codes(lengths);
    return put(is_last ? 1 : 0, 1).put(1, 2);
  }
  // Lengths are told one by one, each in four bits.
  DeflateBuilder& begin(DeflateLengths const& lengths, bool is_last) {
    take_codes(lengths);
    put(is_last ? 1 : 0, 1).put(2, 2).put(31, 5).put(31, 5).put(15, 4).put(0, 9);
    for (int i = 0; i < 16; ++i) { put(4, 3); }
    for (std::uint8_t const bits : lengths.symbols) { put_length(bits); }
    for (std::uint8_t const bits : lengths.distances) { put_length(bits); }
    return *this;
  }

  DeflateBuilder& symbol(std::size_t symbol) { return put(symbol_codes_[symbol], lengths_.symbols[symbol]); }
  DeflateBuilder& distance_symbol(std::size_t symbol) {
    return put(distance_codes_[symbol], lengths_.distances[symbol]);
  }
  DeflateBuilder& literal(std::byte value) {
    bytes_.push_back(value);
    return symbol(std::to_integer<std::size_t>(value));
  }
  DeflateBuilder& match(std::uint32_t length, std::uint32_t distance) {
    coding::DeflateSymbol const of_length = coding::length_symbol(length);
    return match(of_length.symbol + coding::kDeflateFirstLength, of_length.extra, distance);
  }
  // Of a length that may not be told in the usual way: 258 has two symbols.
  DeflateBuilder& match(std::uint32_t length_symbol, std::uint32_t extra, std::uint32_t distance) {
    coding::DeflateSymbol const of_distance = coding::distance_symbol(distance);
    symbol(length_symbol).put(extra, coding::length_extra_bits(length_symbol));
    distance_symbol(of_distance.symbol).put(of_distance.extra, of_distance.extra_bits);
    std::uint32_t const length = coding::least_length(length_symbol) + extra;
    for (std::uint32_t i = 0; i < length && distance <= bytes_.size(); ++i) {
      bytes_.push_back(bytes_[bytes_.size() - distance]);
    }
    return *this;
  }
  DeflateBuilder& end() { return symbol(coding::kDeflateEndOfBlock); }

  [[nodiscard]] Bytes const& stream() const { return stream_; }
  [[nodiscard]] std::size_t at_bit() const { return at_bit_; }
  [[nodiscard]] Bytes const& bytes() const { return bytes_; }  // that the stream holds

 private:
  void take_codes(DeflateLengths const& lengths) {
    lengths_ = lengths;
    huffman_codes(lengths.symbols, symbol_codes_);
    huffman_codes(lengths.distances, distance_codes_);
  }
  void put_length(std::uint8_t bits) {
    put((bits & 1U) << 3 | (bits & 2U) << 1 | (bits & 4U) >> 1 | (bits & 8U) >> 3, 4);
  }

  Bytes stream_, bytes_;
  std::size_t at_bit_ = 0;
  DeflateLengths lengths_;
  std::array<std::uint16_t, DeflateLengths::kSymbols> symbol_codes_{};
  std::array<std::uint16_t, DeflateLengths::kDistances> distance_codes_{};
};

}  // namespace terrazzo::codec::testing
