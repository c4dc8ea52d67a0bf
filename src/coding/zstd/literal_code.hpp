// SPDX-License-Identifier: Apache-2.0
//
// The Huffman code of a block's literals (RFC 8878, 4.2), read and built by a team, on host and device.
#pragma once

#include "base/host_device.hpp"
#include "coding/zstd/backward_reader.hpp"
#include "coding/zstd/fse_cells.hpp"

#include <cstdint>

namespace terrazzo::coding {

struct LiteralCode {
  static constexpr std::uint32_t kMostBits = 11;
  static constexpr std::uint32_t kMostWeights = 255;  // plus one that is implied
  static constexpr std::uint32_t kMostTableBits = 6;  // of the weights' own code

  // By the next kMostBits bits: the length of the code at their beginning, and the literal in the byte above it.
  std::uint16_t entries[1U << kMostBits];

  std::uint8_t weights[kMostWeights + 1];
  std::uint32_t weight_count;
  std::uint32_t places[kMostBits + 2];  // of the first entry of each weight
  std::uint32_t longest;
  std::uint32_t description_bytes;
  FseShares shares;
  FseCell cells[1U << kMostTableBits];

  // Reads the description in the bytes [begin, end): returns its size, 0 if it is invalid. All lanes call it.
  template <class Team>
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t read(Team const& team, StreamWords const& words, std::uint32_t begin,
                                                        std::uint32_t end) noexcept {
    team.each([&](std::uint32_t lane) {
      if (lane == 0) { description_bytes = read_weights(words, begin, end); }
    });
    std::uint32_t const bytes = team.read(description_bytes);
    if (bytes == 0) { return 0; }
    team.each([&](std::uint32_t lane) {
      for (std::uint32_t symbol = lane; symbol < weight_count; symbol += Team::kLanes) { place_symbol(symbol); }
    });
    return bytes;
  }

 private:
  [[nodiscard]] TERRAZZO_HOST_DEVICE static std::uint32_t byte_of(StreamWords const& words, std::uint32_t at) noexcept {
    return static_cast<std::uint32_t>(words.bytes()[at]);
  }

  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t read_weights(StreamWords const& words, std::uint32_t begin,
                                                                std::uint32_t end) noexcept {
    if (begin == end) { return 0; }
    std::uint32_t const head = byte_of(words, begin);
    bool const is_plain = head >= 128;
    std::uint32_t const bytes = 1 + (is_plain ? (head - 127 + 1) / 2 : head);
    if (end - begin < bytes || bytes == 1) { return 0; }
    weight_count = 0;
    if (is_plain) {
      for (std::uint32_t i = 0; i < head - 127; ++i) {
        std::uint32_t const both = byte_of(words, begin + 1 + i / 2);
        weights[weight_count++] = static_cast<std::uint8_t>(i % 2 == 0 ? both >> 4 : both & 15U);
      }
    } else if (!read_coded_weights(words, begin + 1, begin + bytes)) {
      return 0;
    }
    return complete_weights() ? bytes : 0;
  }

  // Two states alternate (4.2.1.2), until the stream is too short for the next one.
  [[nodiscard]] TERRAZZO_HOST_DEVICE bool read_coded_weights(StreamWords const& words, std::uint32_t begin,
                                                             std::uint32_t end) noexcept {
    std::uint32_t const described = shares.read(words, begin, end, kMostTableBits, kMostBits + 1);
    if (described == 0) { return false; }
    shares.deal(cells);
    BackwardReader reader(words, begin + described, end);
    if (!reader.is_valid()) { return false; }
    std::uint32_t state = reader.take(shares.bits);
    std::uint32_t other = reader.take(shares.bits);
    if (reader.left() < 0) { return false; }
    while (weight_count + 2 <= kMostWeights) {
      FseCell const cell = cells[state];
      weights[weight_count++] = cell.code;
      if (reader.left() < cell.next_bits) {
        weights[weight_count++] = cells[other].code;
        return true;
      }
      state = other;
      other = cell.next + reader.take(cell.next_bits);
    }
    return false;
  }

  // The last weight completes the sum of the others to a power of two (4.2.1).
  [[nodiscard]] TERRAZZO_HOST_DEVICE bool complete_weights() noexcept {
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0; i < weight_count; ++i) {
      if (weights[i] > kMostBits) { return false; }
      sum += 1U << weights[i] >> 1;
    }
    longest = bits_of(sum);
    if (sum == 0 || longest > kMostBits) { return false; }
    std::uint32_t const rest = (1U << longest) - sum;
    if ((rest & (rest - 1)) != 0) { return false; }
    weights[weight_count++] = static_cast<std::uint8_t>(bits_of(rest));
    for (std::uint32_t& place : places) { place = 0; }
    for (std::uint32_t i = 0; i < weight_count; ++i) { ++places[weights[i]]; }
    if (places[1] < 2) { return false; }
    // The longest codes have the lowest values.
    std::uint32_t place = 0;
    places[0] = 0;
    for (std::uint32_t weight = 1; weight <= kMostBits; ++weight) {
      std::uint32_t const entries_of_weight = places[weight] * entries_of(weight);
      places[weight] = place;
      place += entries_of_weight;
    }
    return true;
  }

  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t entries_of(std::uint32_t weight) const noexcept {
    return 1U << (weight - 1) << (kMostBits - longest);
  }

  // Codes of equal length are sorted by symbol (4.2.1.1).
  TERRAZZO_HOST_DEVICE void place_symbol(std::uint32_t symbol) noexcept {
    std::uint32_t const weight = weights[symbol];
    if (weight == 0) { return; }
    std::uint32_t rank = 0;
    for (std::uint32_t other = 0; other < symbol; ++other) { rank += weights[other] == weight ? 1 : 0; }
    std::uint32_t const begin = places[weight] + rank * entries_of(weight);
    auto const entry = static_cast<std::uint16_t>((longest + 1 - weight) | symbol << 8);
    for (std::uint32_t i = 0; i < entries_of(weight); ++i) { entries[begin + i] = entry; }
  }
};

}  // namespace terrazzo::coding
