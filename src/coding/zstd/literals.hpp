// SPDX-License-Identifier: Apache-2.0
//
// Literals of a ZSTD block (RFC 8878, 3.1.1.3.1): their Huffman code, its description, their bits. A decoder reads a
// stream of literals from its end, so the last literal's bits come first.
#pragma once

#include "coding/zstd/work.hpp"

namespace terrazzo::coding {

namespace zstd_literals {

// Weights are 0 for symbols that do not occur, otherwise longest + 1 - length; the last one is implied (4.2.1).
[[nodiscard]] TERRAZZO_HOST_DEVICE inline std::uint32_t weight_of(ZstdWork const& work, std::uint32_t symbol) noexcept {
  std::uint32_t const bits = work.literals.lengths[symbol];
  return bits == 0 ? 0 : work.longest_code + 1 - bits;
}

inline constexpr std::uint32_t kMostDirectWeights = 128, kMostWeightBits = 6;

// Four bits per weight, the first in the upper half of a byte.
TERRAZZO_HOST_DEVICE inline void describe_directly(ZstdWork& work, std::uint32_t weights) noexcept {
  DeflateBits out(work.tree_words, 0);
  out.put(127 + weights, 8);
  for (std::uint32_t s = 0; s < weights; s += 2) {
    std::uint32_t const second = s + 1 < weights ? weight_of(work, s + 1) : 0;
    out.put(weight_of(work, s) << 4 | second, 8);
  }
  out.finish();
  work.tree_bytes = 1 + (weights + 1) / 2;
}

// Encodes the weights with two alternating states (4.2.1.2): put(bits, count) for each.
template <class Put>
TERRAZZO_HOST_DEVICE inline void put_weights(ZstdWork const& work, std::uint32_t weights, Put const& put) noexcept {
  FseTable const& table = work.tables[kZstdWeights];
  std::uint32_t states[2] = {0, 0};
  for (std::uint32_t s = weights; s-- > 0;) {
    std::uint32_t const weight = weight_of(work, s);
    if (s + 2 >= weights) {
      states[s % 2] = table.first_state(weight);
    } else {
      std::uint32_t const written = table.go(table.symbols[weight], states[s % 2]);
      put(written & ((1U << FseTable::kCountShift) - 1), written >> FseTable::kCountShift);
    }
  }
  put(states[1] - table.size(), table.bits);
  put(states[0] - table.size(), table.bits);
  put(1U, 1U);
}

// Describes the code by states, preceded by their table, if that is shorter than `most_bytes`.
TERRAZZO_HOST_DEVICE inline void describe_by_states(ZstdWork& work, std::uint32_t weights,
                                                    std::uint32_t most_bytes) noexcept {
  FseTable const& table = work.tables[kZstdWeights];
  if (table.used < 2 || weights < 3) { return; }
  std::uint32_t bits = 0;
  put_weights(work, weights, [&](std::uint32_t, std::uint32_t count) { bits += count; });
  std::uint32_t const bytes = table.description_bytes + (bits + 7) / 8;
  if (1 + bytes >= most_bytes) { return; }
  for (std::uint32_t i = 0; i < kZstdTreeWords; ++i) { work.tree_words[i] = 0; }
  DeflateBits out(work.tree_words, 0);
  out.put(bytes, 8);
  for (std::uint32_t i = 0; i < table.description_bytes; ++i) {
    out.put(table.description[i / 4] >> (i % 4 * 8) & 0xFFU, 8);
  }
  put_weights(work, weights, [&](std::uint32_t value, std::uint32_t count) { out.put(value, count); });
  out.finish();
  work.tree_bytes = 1 + bytes;
}

// A thread's share of a stream: literals from `begin` to `end`.
struct Share {
  std::uint32_t stream, begin, end;

  static constexpr std::uint32_t kThreads = kDeflateThreads / kZstdStreams;  // threads per stream

  TERRAZZO_HOST_DEVICE Share(std::uint32_t literals, std::uint32_t thread) noexcept : stream(thread / kThreads) {
    bool const all = stream < streams_of(literals);
    std::uint32_t const each = stream_literals(literals);
    std::uint32_t const first = all && stream * each < literals ? stream * each : literals;
    std::uint32_t const last = all && first + each < literals ? first + each : literals;
    std::uint32_t const share = (each + kThreads - 1) / kThreads;
    begin = first + thread % kThreads * share < last ? first + thread % kThreads * share : last;
    end = begin + share < last ? begin + share : last;
  }

  // One stream if the sizes fit in the fields of that format.
  [[nodiscard]] TERRAZZO_HOST_DEVICE static std::uint32_t streams_of(std::uint32_t literals) noexcept {
    return literals < 1024 ? 1 : kZstdStreams;
  }
  [[nodiscard]] TERRAZZO_HOST_DEVICE static std::uint32_t stream_literals(std::uint32_t literals) noexcept {
    std::uint32_t const streams = streams_of(literals);
    return (literals + streams - 1) / streams;
  }
};

}  // namespace zstd_literals

// Computes codes of the literals from their counts (4.2.1.1): the longest codes have the lowest values. Counts their
// weights.
template <class Threads>
TERRAZZO_HOST_DEVICE inline void make_literal_codes(Threads& threads, ZstdWork& work) {
  make_code_lengths(threads, &work.tree, kZstdMostCodeBits, work.literals,
                    static_cast<DeflateCode<kDeflateDistanceSymbols>*>(nullptr));
  threads.each([&](std::uint32_t thread) {
    if (work.literals.lengths[thread] != 0) { together::raise(work.last_literal, thread); }
    if (thread != 0) { return; }
    work.longest_code = kZstdMostCodeBits;
    while (work.tree.leaves_at[work.longest_code] == 0) { --work.longest_code; }
    std::uint32_t code = 0;
    for (std::uint32_t bits = work.longest_code; bits > 0; --bits) {
      work.tree.first_codes[bits] = code;
      code = (code + work.tree.leaves_at[bits]) >> 1;
    }
  });
  threads.each([&](std::uint32_t thread) {
    std::uint32_t const bits = work.literals.lengths[thread];
    std::uint32_t value = bits == 0 ? 0 : work.tree.first_codes[bits];
    for (std::uint32_t before = 0; before < thread; ++before) {
      value += work.literals.lengths[before] == bits ? 1 : 0;
    }
    work.literals.codes[thread] = bits == 0 ? 0 : value | bits << 16;
    if (thread < work.last_literal) {
      together::add(work.counts[kZstdWeights][zstd_literals::weight_of(work, thread)], 1);
    }
  });
}

// Writes the shortest possible description of the code, if there is one.
TERRAZZO_HOST_DEVICE inline void describe_literal_codes(ZstdWork& work) noexcept {
  using namespace zstd_literals;
  std::uint32_t const weights = work.last_literal;
  work.tree_bytes = 0;
  for (std::uint32_t i = 0; i < kZstdTreeWords; ++i) { work.tree_words[i] = 0; }
  if (weights <= kMostDirectWeights) { describe_directly(work, weights); }
  describe_by_states(work, weights, work.tree_bytes == 0 ? kZstdMostTreeBytes + 1 : work.tree_bytes);
}

// Stores the number of bits of a thread's literals in literal_sums.
TERRAZZO_HOST_DEVICE inline void measure_zstd_literals(ZstdWork& work, ZstdPlaces const& places,
                                                       std::uint32_t thread) noexcept {
  zstd_literals::Share const share(work.literal_count, thread);
  std::uint32_t bits = 0;
  for (std::uint32_t i = share.begin; i < share.end; ++i) { bits += work.literals.codes[places.literals[i]] >> 16; }
  work.literal_sums[thread] = bits;
}

// Writes these bits to words that begin with the block's header.
TERRAZZO_HOST_DEVICE inline void put_zstd_literals(ZstdWork const& work, ZstdPlaces const& places, std::uint32_t thread,
                                                   std::uint32_t* words) noexcept {
  using zstd_literals::Share;
  Share const share(work.literal_count, thread);
  if (share.stream >= work.plan.streams) { return; }
  std::uint32_t at = (kZstdBlockHeaderBytes + work.plan.stream_begin[share.stream]) * 8;
  for (std::uint32_t other = thread + 1; other < (share.stream + 1) * Share::kThreads; ++other) {
    at += work.literal_sums[other];
  }
  DeflateBits out(words, at);
  for (std::uint32_t i = share.end; i-- > share.begin;) {
    std::uint32_t const code = work.literals.codes[places.literals[i]];
    out.put(code & 0xFFFFU, code >> 16);
  }
  if (thread % Share::kThreads == 0) { out.put(1, 1); }
  out.finish();
}

}  // namespace terrazzo::coding
