// SPDX-License-Identifier: Apache-2.0
//
// The codes of a Deflate block, made by the threads of a block on the device and, in the same steps, by a loop on the
// host. `threads.each(step)` calls step(thread) for every thread of kDeflateThreads, followed by a barrier.
//
// All threads share the long steps: ranking the symbols by count, their depths, their codes, the header. One thread
// makes the tree itself, 285 steps for a piece of some ten thousand tokens.
#pragma once

#include "coding/deflate/format.hpp"

namespace terrazzo::coding {

inline constexpr std::uint32_t kDeflateThreads = 256;
inline constexpr std::uint32_t kDeflateMostSymbols = 288;

inline constexpr std::uint32_t kDeflateNoKey = 0xFFFFFFFF;

// Needed only while a code is made.
struct DeflateTree {
  std::uint32_t keys[kDeflateMostSymbols];  // count << 9 | symbol, kDeflateNoKey if there is none
  std::uint32_t leaves[kDeflateMostSymbols];  // the keys, sorted
  std::uint32_t weights[kDeflateMostSymbols];  // weights of nodes
  std::uint16_t parents[2 * kDeflateMostSymbols];  // of leaves, then of nodes: index of a node
  std::uint32_t leaves_at[kDeflateMostBits + 1];  // number of leaves at each depth
  std::uint32_t first_codes[kDeflateMostBits + 1];
  std::uint32_t used;
};

// A code, and the counts of its symbols.
template <std::uint32_t kSymbols>
struct DeflateCode {
  std::uint32_t counts[kSymbols];
  std::uint32_t codes[kSymbols];  // the code, its first bit lowest, and its length << 16: one load
  std::uint8_t lengths[kSymbols];  // 0: not used
};

namespace deflate_tree {

inline constexpr std::uint32_t kSymbolBits = 9;

[[nodiscard]] TERRAZZO_HOST_DEVICE inline std::uint32_t symbol_of(std::uint32_t key) noexcept {
  return key & ((1U << kSymbolBits) - 1);
}

// Repeatedly joins the two lightest. Leaves are sorted and nodes are made in order, so each of the two is at the front
// of its queue. A leaf precedes a node of the same weight, which keeps the tree low. (Keeping the second of each queue
// in registers would save one percent of the time, but nvcc 13 then makes a different tree; tests/gpu shows it.)
TERRAZZO_HOST_DEVICE inline void grow(DeflateTree& tree) noexcept {
  constexpr std::uint32_t kNone = 0xFFFFFFFF;
  std::uint32_t const n = tree.used;
  std::uint32_t leaf = 0, node = 0;
  for (std::uint32_t made = 0; made + 1 < n; ++made) {
    std::uint32_t weight = 0;
    for (std::uint32_t child = 0; child < 2; ++child) {
      std::uint32_t const leaf_weight = leaf < n ? tree.leaves[leaf] >> kSymbolBits : kNone;
      std::uint32_t const node_weight = node < made ? tree.weights[node] : kNone;
      if (leaf_weight <= node_weight) {
        weight += leaf_weight;
        tree.parents[leaf++] = static_cast<std::uint16_t>(made);
      } else {
        weight += node_weight;
        tree.parents[n + node++] = static_cast<std::uint16_t>(made);
      }
    }
    tree.weights[made] = weight;
  }
}

// Leaves moved up to the limit make the code too large. Each step moves one of them next to a higher leaf, which moves
// down one level: both share that leaf's place, and the place at the limit is free.
TERRAZZO_HOST_DEVICE inline void mend(DeflateTree& tree, std::uint32_t limit) noexcept {
  std::uint32_t taken = 0;
  for (std::uint32_t bits = 1; bits <= limit; ++bits) { taken += tree.leaves_at[bits] << (limit - bits); }
  for (; taken > (1U << limit); --taken) {
    std::uint32_t above = limit - 1;
    while (tree.leaves_at[above] == 0) { --above; }
    --tree.leaves_at[above];
    tree.leaves_at[above + 1] += 2;
    --tree.leaves_at[limit];
  }
}

// Pads the code to two symbols, because decoders refuse an incomplete code.
TERRAZZO_HOST_DEVICE inline void add_company(DeflateTree& tree) noexcept {
  std::uint32_t const only = tree.used == 1 ? symbol_of(tree.leaves[0]) : 0;
  tree.leaves[0] = only;
  tree.leaves[1] = only == 0 ? 1 : 0;
  tree.leaves_at[1] = 2;
  tree.used = 2;
}

[[nodiscard]] TERRAZZO_HOST_DEVICE inline std::uint32_t depth_of(DeflateTree const& tree, std::uint32_t leaf) noexcept {
  std::uint32_t const n = tree.used;
  std::uint32_t depth = 1;
  for (std::uint32_t node = tree.parents[leaf]; node != n - 2; node = tree.parents[n + node]) { ++depth; }
  return depth;
}

[[nodiscard]] TERRAZZO_HOST_DEVICE inline std::uint32_t reversed(std::uint32_t code, std::uint32_t bits) noexcept {
#if defined(__CUDA_ARCH__)
  return __brev(code) >> (32 - bits);
#else
  std::uint32_t result = 0;
  for (std::uint32_t bit = 0; bit < bits; ++bit, code >>= 1) { result = result << 1 | (code & 1U); }
  return result;
#endif
}

}  // namespace deflate_tree

// Calls `step` for every thread; each thread works on either the first or the second code.
template <class Threads, std::uint32_t kFirst, std::uint32_t kSecond, class Step>
TERRAZZO_HOST_DEVICE inline void each_of_codes(Threads& threads, DeflateTree* trees, DeflateCode<kFirst>& first,
                                               DeflateCode<kSecond>* second, Step const& step) {
  constexpr std::uint32_t kHelpers = 32;  // the second code is the small one
  threads.each([&](std::uint32_t thread) {
    if (second != nullptr && thread >= kDeflateThreads - kHelpers) {
      step(*second, kSecond, trees[1], thread - (kDeflateThreads - kHelpers), kHelpers);
    } else {
      step(first, kFirst, trees[0], thread, second != nullptr ? kDeflateThreads - kHelpers : kDeflateThreads);
    }
  });
}

// Computes the lengths of one or two codes from their counts, which are at most 2^16 each, and in the trees the number
// of codes of each length and the first code of each by Deflate's rule. Two at once: each tree is made by a thread of
// another warp. `limit` bits are enough for all symbols.
template <class Threads, std::uint32_t kFirst, std::uint32_t kSecond>
TERRAZZO_HOST_DEVICE inline void make_code_lengths(Threads& threads, DeflateTree* trees, std::uint32_t limit,
                                                   DeflateCode<kFirst>& first, DeflateCode<kSecond>* second) {
  namespace steps = deflate_tree;
  auto const both = [&](auto const& step) { each_of_codes(threads, trees, first, second, step); };
  both([](auto& code, std::uint32_t symbols, DeflateTree& tree, std::uint32_t thread, std::uint32_t count) {
    for (std::uint32_t s = thread; s < symbols; s += count) {
      tree.keys[s] = code.counts[s] != 0 ? code.counts[s] << steps::kSymbolBits | s : kDeflateNoKey;
      code.lengths[s] = 0;
    }
    for (std::uint32_t bits = thread; bits <= kDeflateMostBits; bits += count) { tree.leaves_at[bits] = 0; }
    if (thread == 0) { tree.used = 0; }
  });
  both([](auto&, std::uint32_t symbols, DeflateTree& tree, std::uint32_t thread, std::uint32_t count) {
    for (std::uint32_t s = thread; s < symbols; s += count) {
      std::uint32_t const key = tree.keys[s];
      if (key == kDeflateNoKey) { continue; }
      std::uint32_t rank = 0;
      for (std::uint32_t other = 0; other < symbols; ++other) { rank += tree.keys[other] < key ? 1 : 0; }
      tree.leaves[rank] = key;
      together::add(tree.used, 1);
    }
  });
  both([](auto&, std::uint32_t, DeflateTree& tree, std::uint32_t thread, std::uint32_t) {
    if (thread == 0 && tree.used >= 2) { steps::grow(tree); }
  });
  both([limit](auto&, std::uint32_t, DeflateTree& tree, std::uint32_t thread, std::uint32_t count) {
    if (tree.used < 2) { return; }
    for (std::uint32_t leaf = thread; leaf < tree.used; leaf += count) {
      std::uint32_t const depth = steps::depth_of(tree, leaf);
      together::add(tree.leaves_at[depth < limit ? depth : limit], 1);
    }
  });
  both([limit](auto&, std::uint32_t, DeflateTree& tree, std::uint32_t thread, std::uint32_t) {
    if (thread != 0) { return; }
    if (tree.used < 2) { steps::add_company(tree); }
    steps::mend(tree, limit);
    std::uint32_t code = 0;
    tree.first_codes[0] = 0;
    for (std::uint32_t bits = 1; bits <= kDeflateMostBits; ++bits) {
      tree.first_codes[bits] = code;
      code = (code + tree.leaves_at[bits]) << 1;
    }
  });
  both([limit](auto& code, std::uint32_t, DeflateTree& tree, std::uint32_t thread, std::uint32_t count) {
    for (std::uint32_t leaf = thread; leaf < tree.used; leaf += count) {
      std::uint32_t bits = limit;  // the rarest are the deepest
      for (std::uint32_t deeper = tree.leaves_at[bits]; leaf >= deeper; deeper += tree.leaves_at[bits]) { --bits; }
      code.lengths[steps::symbol_of(tree.leaves[leaf])] = static_cast<std::uint8_t>(bits);
    }
  });
}

// Lengths and codes (RFC 1951, 3.2.2).
template <class Threads, std::uint32_t kFirst, std::uint32_t kSecond>
TERRAZZO_HOST_DEVICE inline void make_deflate_codes(Threads& threads, DeflateTree* trees, std::uint32_t limit,
                                                    DeflateCode<kFirst>& first, DeflateCode<kSecond>* second) {
  namespace steps = deflate_tree;
  make_code_lengths(threads, trees, limit, first, second);
  auto const assign = [](auto& code, std::uint32_t symbols, DeflateTree& tree, std::uint32_t thread,
                         std::uint32_t count) {
    for (std::uint32_t s = thread; s < symbols; s += count) {
      std::uint32_t const bits = code.lengths[s];
      std::uint32_t value = tree.first_codes[bits];
      for (std::uint32_t before = 0; before < s; ++before) { value += code.lengths[before] == bits ? 1 : 0; }
      code.codes[s] = bits == 0 ? 0 : steps::reversed(value, bits) | bits << 16;
    }
  };
  each_of_codes(threads, trees, first, second, assign);
}

// The three codes of a block; the third describes the lengths of the others.
struct DeflateCodes {
  DeflateCode<kDeflateLiteralSymbols> literals;
  DeflateCode<kDeflateDistanceSymbols> distances;
  DeflateCode<kDeflateRunSymbols> runs;
  std::uint32_t run_count, literal_count, distance_count, stored_runs;
  std::uint32_t header_bits;
  std::uint32_t body_bits;  // including the end of the block

  // The number of lengths in the header: those of the first code and then those of the second.
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t length_count() const noexcept {
    return literal_count + distance_count;
  }
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t length_at(std::uint32_t i) const noexcept {
    return i < literal_count ? literals.lengths[i] : distances.lengths[i - literal_count];
  }
};

// Needed until the header is written; may share its memory with other data.
struct DeflateCodeWork {
  DeflateTree trees[2];
  std::uint32_t sums[kDeflateLiteralSymbols + kDeflateDistanceSymbols];  // runs at a length; later bits of a run
  std::uint16_t runs[kDeflateLiteralSymbols + kDeflateDistanceSymbols];  // symbol | extra << 8

  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t sum_before(std::uint32_t end) const noexcept {
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0; i < end; ++i) { sum += sums[i]; }
    return sum;
  }
};

namespace deflate_header {

inline constexpr std::uint32_t kRepeat = 16, kFewZeros = 17, kManyZeros = 18;
inline constexpr std::uint32_t kMostRepeats = 6, kMostFewZeros = 10, kMostZeros = 138, kLeastRun = 3;
inline constexpr std::uint32_t kFixedBits = 3 + 5 + 5 + 4;

// Encodes `count` equal lengths in symbols of the code for lengths (RFC 1951, 3.2.7): put(place, symbol, extra) for
// each. Returns their number.
template <class Put>
TERRAZZO_HOST_DEVICE inline std::uint32_t split_run(std::uint32_t length, std::uint32_t count,
                                                    Put const& put) noexcept {
  std::uint32_t place = 0;
  if (length != 0) {
    put(place++, length, 0U);
    --count;
  }
  std::uint32_t const most = length != 0 ? kMostRepeats : kMostZeros;
  while (count >= kLeastRun) {
    std::uint32_t const now = count < most ? count : most;
    if (length != 0) {
      put(place++, kRepeat, now - kLeastRun);
    } else if (now <= kMostFewZeros) {
      put(place++, kFewZeros, now - kLeastRun);
    } else {
      put(place++, kManyZeros, now - kMostFewZeros - 1);
    }
    count -= now;
  }
  for (; count > 0; --count) { put(place++, length, 0U); }
  return place;
}

[[nodiscard]] TERRAZZO_HOST_DEVICE inline std::uint32_t run_from(DeflateCodes const& codes, std::uint32_t i) noexcept {
  std::uint32_t end = i + 1;
  while (end < codes.length_count() && codes.length_at(end) == codes.length_at(i)) { ++end; }
  return end - i;
}

// The lengths of both codes as runs of equal lengths, which may continue from the first code to the second.
template <class Threads>
TERRAZZO_HOST_DEVICE inline void describe(Threads& threads, DeflateCodeWork& work, DeflateCodes& codes) {
  threads.each([&](std::uint32_t thread) {
    if (thread < kDeflateRunSymbols) { codes.runs.counts[thread] = 0; }
    if (thread == 0) { codes.run_count = codes.literal_count = codes.distance_count = codes.body_bits = 0; }
  });
  threads.each([&](std::uint32_t thread) {
    for (std::uint32_t s = thread + kDeflateEndOfBlock; s < kDeflateLiteralSymbols; s += kDeflateThreads) {
      if (codes.literals.lengths[s] != 0) { together::raise(codes.literal_count, s + 1); }
    }
    if (thread < kDeflateDistanceSymbols && codes.distances.lengths[thread] != 0) {
      together::raise(codes.distance_count, thread + 1);
    }
  });
  threads.each([&](std::uint32_t thread) {
    for (std::uint32_t i = thread; i < codes.length_count(); i += kDeflateThreads) {
      bool const begins = i == 0 || codes.length_at(i) != codes.length_at(i - 1);
      auto const only_count = [](std::uint32_t, std::uint32_t, std::uint32_t) {};
      work.sums[i] = begins ? split_run(codes.length_at(i), run_from(codes, i), only_count) : 0;
      if (begins) { together::add(codes.run_count, work.sums[i]); }
    }
  });
  threads.each([&](std::uint32_t thread) {
    for (std::uint32_t i = thread; i < codes.length_count(); i += kDeflateThreads) {
      if (work.sums[i] == 0) { continue; }
      std::uint32_t const first = work.sum_before(i);
      split_run(codes.length_at(i), run_from(codes, i),
                [&](std::uint32_t place, std::uint32_t symbol, std::uint32_t extra) {
                  work.runs[first + place] = static_cast<std::uint16_t>(symbol | extra << 8);
                  together::add(codes.runs.counts[symbol], 1);
                });
    }
  });
}

TERRAZZO_HOST_DEVICE inline void measure(DeflateCodes& codes) noexcept {
  codes.stored_runs = kDeflateRunSymbols;
  while (codes.stored_runs > 4 && codes.runs.lengths[run_symbol_at(codes.stored_runs - 1)] == 0) {
    --codes.stored_runs;
  }
  std::uint32_t bits = kFixedBits + 3 * codes.stored_runs;
  for (std::uint32_t s = 0; s < kDeflateRunSymbols; ++s) {
    bits += codes.runs.counts[s] * (codes.runs.lengths[s] + run_extra_bits(s));
  }
  codes.header_bits = bits;
}

}  // namespace deflate_header

// Computes everything from the counts of literals and distances, including the end of the block.
template <class Threads>
TERRAZZO_HOST_DEVICE inline void make_block_codes(Threads& threads, DeflateCodeWork& work, DeflateCodes& codes) {
  make_deflate_codes(threads, work.trees, kDeflateMostBits, codes.literals, &codes.distances);
  deflate_header::describe(threads, work, codes);
  make_deflate_codes(threads, work.trees, kDeflateMostRunBits, codes.runs,
                     static_cast<DeflateCode<kDeflateDistanceSymbols>*>(nullptr));
  threads.each([&](std::uint32_t thread) {
    if (thread == 0) { deflate_header::measure(codes); }
    for (std::uint32_t i = thread; i < codes.run_count; i += kDeflateThreads) {
      std::uint32_t const symbol = work.runs[i] & 0xFFU;
      work.sums[i] = codes.runs.lengths[symbol] + run_extra_bits(symbol);
    }
    std::uint32_t bits = 0;
    for (std::uint32_t s = thread; s < kDeflateLiteralSymbols; s += kDeflateThreads) {
      bits += codes.literals.counts[s] * (codes.literals.lengths[s] + length_extra_bits(s));
    }
    if (thread < kDeflateDistanceSymbols) {
      bits += codes.distances.counts[thread] * (codes.distances.lengths[thread] + distance_extra_bits(thread));
    }
    if (bits != 0) { together::add(codes.body_bits, bits); }
  });
}

// Writes one thread's share of the block's first header_bits bits.
TERRAZZO_HOST_DEVICE inline void put_block_header(DeflateCodeWork const& work, DeflateCodes const& codes, bool last,
                                                  std::uint32_t thread, std::uint32_t* words) noexcept {
  if (thread == 0) {
    DeflateBits out(words, 0);
    out.put((last ? 1U : 0U) | 2U << 1 | (codes.literal_count - 257) << 3 | (codes.distance_count - 1) << 8 |
                (codes.stored_runs - 4) << 13,
            deflate_header::kFixedBits);
    for (std::uint32_t i = 0; i < codes.stored_runs; ++i) { out.put(codes.runs.lengths[run_symbol_at(i)], 3); }
    out.finish();
  }
  for (std::uint32_t i = thread; i < codes.run_count; i += kDeflateThreads) {
    DeflateBits out(words, deflate_header::kFixedBits + 3 * codes.stored_runs + work.sum_before(i));
    std::uint32_t const symbol = work.runs[i] & 0xFFU, extra = work.runs[i] >> 8;
    out.put((codes.runs.codes[symbol] & 0xFFFFU) | extra << codes.runs.lengths[symbol], work.sums[i]);
    out.finish();
  }
}

}  // namespace terrazzo::coding
