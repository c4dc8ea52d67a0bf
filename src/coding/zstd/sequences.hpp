// SPDX-License-Identifier: Apache-2.0
//
// Sequences of a ZSTD block (RFC 8878, 3.1.1.3.2) from the tokens of its positions: separates literals and matches,
// then computes codes, states and bits.
//
// Blocks are made in parallel, so the last distances of the previous block are unknown. A block stores its first
// distance in full; after that the last distance is that of the previous sequence, in any encoding, and the one before
// the last is found by searching back a few sequences.
#pragma once

#include "coding/zstd/work.hpp"

namespace terrazzo::coding {

namespace zstd_sequences {

// A thread's share of the positions: its counts, and the number of literals after its last match. Each is at most
// kShare, and so fits in ten bits.
inline constexpr std::uint32_t kShare = kZstdPieceBytes / kDeflateThreads;
static_assert(kShare <= 256 && kShare % 4 == 0);

struct Tally {
  std::uint32_t literals = 0, matches = 0, trailing = 0;

  TERRAZZO_HOST_DEVICE void add(DeflateToken token) noexcept {
    if (token.covered()) { return; }
    if (token.is_literal()) {
      ++literals;
      ++trailing;
    } else {
      ++matches;
      trailing = 0;
    }
  }
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t word() const noexcept {
    return literals | matches << 10 | trailing << 20;
  }
  // Adds the counts of a later share.
  TERRAZZO_HOST_DEVICE void append(std::uint32_t word) noexcept {
    std::uint32_t const more = word & 0x3FFU, more_matches = word >> 10 & 0x3FFU;
    literals += more;
    matches += more_matches;
    trailing = more_matches != 0 ? word >> 20 : trailing + more;
  }
};

// use(token) for every position of a thread's share.
template <class Use>
TERRAZZO_HOST_DEVICE inline void each_token(std::uint32_t const* tokens, std::uint32_t bytes, std::uint32_t thread,
                                            Use const& use) noexcept {
  std::uint32_t const begin = thread * kShare;
  std::uint32_t const end = begin + kShare < bytes ? begin + kShare : bytes;
  for (std::uint32_t i = begin; i < end; i += 4) {
#if defined(__CUDA_ARCH__)
    uint4 const loaded = *reinterpret_cast<uint4 const*>(tokens + i);
    std::uint32_t const words[4] = {loaded.x, loaded.y, loaded.z, loaded.w};
#else
    std::uint32_t const words[4] = {tokens[i], tokens[i + 1], tokens[i + 2], tokens[i + 3]};
#endif
    TERRAZZO_UNROLL
    for (std::uint32_t k = 0; k < 4; ++k) {
      if (i + k < end) { use(DeflateToken{words[k]}); }
    }
  }
}

// Consecutive bytes, written as whole words where possible.
class ByteRun {
 public:
  TERRAZZO_HOST_DEVICE ByteRun(std::uint8_t* base, std::uint32_t at) noexcept : base_(base), at_(at) {}

  TERRAZZO_HOST_DEVICE void put(std::uint32_t byte) noexcept {
    waiting_ |= byte << (8 * count_++);
    if ((at_ + count_) % 4 == 0) { flush(); }
  }
  TERRAZZO_HOST_DEVICE void flush() noexcept {
#if defined(__CUDA_ARCH__)
    if (count_ == 4) {
      *reinterpret_cast<std::uint32_t*>(base_ + at_) = waiting_;
      at_ += 4;
      count_ = waiting_ = 0;
    }
#endif
    for (; count_ != 0; --count_, waiting_ >>= 8) { base_[at_++] = static_cast<std::uint8_t>(waiting_ & 0xFFU); }
  }

 private:
  std::uint8_t* base_;
  std::uint32_t at_, waiting_ = 0, count_ = 0;
};

// The offset value of sequence `i` (3.1.1.5).
[[nodiscard]] TERRAZZO_HOST_DEVICE inline std::uint32_t offset_value(ZstdPlaces const& places,
                                                                     std::uint32_t i) noexcept {
  constexpr std::uint32_t kLookBack = 16, kRepeats = 3;
  std::uint32_t const distance = places.distances[i] + 1U;
  bool const after_literals = places.literal_lengths[i] != 0;
  if (i != 0) {
    std::uint32_t const last = places.distances[i - 1] + 1U;
    if (distance == last && after_literals) { return 1; }
    // Sequences that repeat the last distance do not change the one before it.
    std::uint32_t from = i - 1;
    std::uint32_t const until = from < kLookBack ? 0 : from - kLookBack;
    while (from > until && places.literal_lengths[from] != 0 && places.distances[from - 1] + 1U == last) { --from; }
    bool const is_known = from > until && places.distances[from - 1] + 1U == distance;
    if (is_known) { return after_literals ? 2 : 1; }
  }
  return distance + kRepeats;
}

}  // namespace zstd_sequences

// Separates tokens into literals, which are counted, and sequences.
template <class Threads>
TERRAZZO_HOST_DEVICE inline void gather_zstd_sequences(Threads& threads, ZstdWork& work, ZstdPlaces const& places,
                                                       std::uint32_t bytes) {
  using zstd_sequences::Tally;
  threads.each([&](std::uint32_t thread) {
    work.literals.counts[thread] = 0;
    for (std::uint32_t i = thread; i < kZstdTables * kFseMostSymbols; i += kDeflateThreads) {
      work.counts[i / kFseMostSymbols][i % kFseMostSymbols] = 0;
    }
    if (thread == 0) { work.last_literal = 0; }
    Tally own;
    zstd_sequences::each_token(places.tokens, bytes, thread, [&](DeflateToken token) { own.add(token); });
    work.literal_sums[thread] = own.word();
  });
  threads.each([&](std::uint32_t thread) {
    Tally before;
    for (std::uint32_t other = 0; other < thread; ++other) { before.append(work.literal_sums[other]); }
    zstd_sequences::ByteRun literals(places.literals, before.literals);
    zstd_sequences::each_token(places.tokens, bytes, thread, [&](DeflateToken token) {
      if (token.covered()) { return; }
      if (token.is_literal()) {
        literals.put(token.word);
        together::add(work.literals.counts[token.word], 1);
      } else {
        places.literal_lengths[before.matches] = static_cast<std::uint16_t>(before.trailing);
        places.match_lengths[before.matches] = static_cast<std::uint16_t>(token.length());
        places.distances[before.matches] = static_cast<std::uint16_t>(token.distance() - 1);
      }
      before.add(token);
    });
    literals.flush();
    if (thread == kDeflateThreads - 1) {
      work.literal_count = before.literals;
      work.sequence_count = before.matches;
    }
  });
}

// Computes the codes of sequences and counts them; overwrites the tokens.
template <class Threads>
TERRAZZO_HOST_DEVICE inline void code_zstd_sequences(Threads& threads, ZstdWork& work, ZstdPlaces const& places) {
  threads.each([&](std::uint32_t thread) {
    std::uint32_t const count = work.sequence_count;
    for (std::uint32_t i = thread; i < count; i += kDeflateThreads) {
      std::uint32_t const value = zstd_sequences::offset_value(places, i);
      std::uint32_t const codes[kZstdSequenceTables] = {zstd_literal_length_code(places.literal_lengths[i]).code,
                                                        zstd_offset_code(value).code,
                                                        zstd_match_length_code(places.match_lengths[i]).code};
      places.offset_values()[i] = static_cast<std::uint16_t>(value);
      TERRAZZO_UNROLL
      for (std::uint32_t table = 0; table < kZstdSequenceTables; ++table) {
        places.codes(table)[count - 1 - i] = static_cast<std::uint8_t>(codes[table]);
        together::add(work.counts[table][codes[table]], 1);
      }
    }
  });
}

// Computes one table's states, from the last sequence to the first; returns the state in which a decoder begins. Four
// codes at a time: loads of codes have a long latency, and their shares do not depend on the state.
[[nodiscard]] TERRAZZO_HOST_DEVICE inline std::uint32_t walk_zstd_states(FseTable const& table,
                                                                         std::uint8_t const* codes, std::uint32_t count,
                                                                         std::uint16_t* written) noexcept {
  if (table.bits == 0) {
    for (std::uint32_t i = 0; i < count; ++i) { written[i] = 0; }
    return 0;
  }
  // There is room for whole words after the last code and its bits; codes there have any value.
  auto const load = [&](std::uint32_t at) {
#if defined(__CUDA_ARCH__)
    return *reinterpret_cast<std::uint32_t const*>(codes + at);
#else
    return codes[at] | std::uint32_t{codes[at + 1]} << 8 | std::uint32_t{codes[at + 2]} << 16 |
           std::uint32_t{codes[at + 3]} << 24;
#endif
  };
  auto const store = [&](std::uint32_t at, std::uint32_t first, std::uint32_t second) {
#if defined(__CUDA_ARCH__)
    *reinterpret_cast<std::uint32_t*>(written + at) = first | second << 16;
#else
    written[at] = static_cast<std::uint16_t>(first);
    written[at + 1] = static_cast<std::uint16_t>(second);
#endif
  };
  std::uint32_t ahead = load(0);
  std::uint32_t state = table.first_state(ahead & 0xFFU);
  for (std::uint32_t i = 0; i < count; i += 4) {
    std::uint32_t const word = ahead;
    if (i + 4 < count) { ahead = load(i + 4); }
    FseTable::Symbol entries[4];
    TERRAZZO_UNROLL
    for (std::uint32_t k = 0; k < 4; ++k) {
      std::uint32_t const code = i + k < count ? word >> (8 * k) & 0xFFU : 0;
      entries[k] = table.symbols[code];
    }
    std::uint32_t bits[4];
    TERRAZZO_UNROLL
    for (std::uint32_t k = 0; k < 4; ++k) {
      // The first code sets the initial state.
      bits[k] = i + k == 0 || i + k >= count ? 0 : table.go(entries[k], state);
    }
    store(i, bits[0], bits[1]);
    store(i + 2, bits[2], bits[3]);
  }
  return state - table.size();
}

namespace zstd_sequences {

// The bits of a sequence: those of the states, which a decoder reads last, then the extra bits of the codes.
struct Bits {
  std::uint32_t states, states_count;
  std::uint32_t lengths, lengths_count;
  std::uint32_t offset, offset_count;

  // `turn` counts from the last sequence on.
  TERRAZZO_HOST_DEVICE Bits(ZstdPlaces const& places, std::uint32_t turn, std::uint32_t count) noexcept
      : states(0), states_count(0) {
    constexpr std::uint32_t kOrder[kZstdSequenceTables] = {kZstdOffsets, kZstdMatchLengths, kZstdLiteralLengths};
    TERRAZZO_UNROLL
    for (std::uint32_t i = 0; i < kZstdSequenceTables; ++i) {
      std::uint32_t const word = places.written(kOrder[i])[turn];
      states |= (word & ((1U << FseTable::kCountShift) - 1)) << states_count;
      states_count += word >> FseTable::kCountShift;
    }
    std::uint32_t const i = count - 1 - turn;
    ZstdCode const literals = zstd_literal_length_code(places.literal_lengths[i]);
    ZstdCode const match = zstd_match_length_code(places.match_lengths[i]);
    ZstdCode const value = zstd_offset_code(places.offset_values()[i]);
    lengths = literals.extra | match.extra << literals.extra_bits;
    lengths_count = literals.extra_bits + match.extra_bits;
    offset = value.extra;
    offset_count = value.extra_bits;
  }
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t count() const noexcept {
    return states_count + lengths_count + offset_count;
  }
  TERRAZZO_HOST_DEVICE void put(DeflateBits& out) const noexcept {
    out.put(states, states_count);
    out.put(lengths, lengths_count);
    out.put(offset, offset_count);
  }
};

// A thread's share of the sequences, in turns.
struct Turns {
  std::uint32_t begin, end;

  TERRAZZO_HOST_DEVICE Turns(std::uint32_t count, std::uint32_t thread) noexcept {
    std::uint32_t const share = (count + kDeflateThreads - 1) / kDeflateThreads;
    begin = thread * share < count ? thread * share : count;
    end = begin + share < count ? begin + share : count;
  }
};

}  // namespace zstd_sequences

// Stores the number of bits of a thread's sequences in sequence_sums.
TERRAZZO_HOST_DEVICE inline void measure_zstd_sequences(ZstdWork& work, ZstdPlaces const& places,
                                                        std::uint32_t thread) noexcept {
  zstd_sequences::Turns const turns(work.sequence_count, thread);
  std::uint32_t bits = 0;
  for (std::uint32_t turn = turns.begin; turn < turns.end; ++turn) {
    bits += zstd_sequences::Bits(places, turn, work.sequence_count).count();
  }
  work.sequence_sums[thread] = bits;
}

// Writes these bits to words; the section's bits begin at byte `begin`.
TERRAZZO_HOST_DEVICE inline void put_zstd_sequences(ZstdWork const& work, ZstdPlaces const& places,
                                                    std::uint32_t thread, std::uint32_t begin,
                                                    std::uint32_t* words) noexcept {
  zstd_sequences::Turns const turns(work.sequence_count, thread);
  std::uint32_t at = begin * 8;
  for (std::uint32_t other = 0; other < thread; ++other) { at += work.sequence_sums[other]; }
  DeflateBits out(words, at);
  for (std::uint32_t turn = turns.begin; turn < turns.end; ++turn) {
    zstd_sequences::Bits(places, turn, work.sequence_count).put(out);
  }
  out.finish();
  if (thread != 0) { return; }
  DeflateBits end(words, begin * 8 + work.sequence_bits);
  end.put(work.final_states[kZstdMatchLengths], work.tables[kZstdMatchLengths].bits);
  end.put(work.final_states[kZstdOffsets], work.tables[kZstdOffsets].bits);
  end.put(work.final_states[kZstdLiteralLengths], work.tables[kZstdLiteralLengths].bits);
  end.put(1, 1);
  end.finish();
}

}  // namespace terrazzo::coding
