// SPDX-License-Identifier: Apache-2.0
#include "codec/deflate/encoder_huffman.hpp"

#include <algorithm>
#include <array>

namespace terrazzo::codec {

namespace {

constexpr unsigned kMostBits = 15;

struct Leaf {
  std::uint32_t count;
  std::uint16_t symbol;
};

// The number of leaves at each depth of the tree of least cost; depths past the limit are counted at the limit. Leaves
// are sorted by count, so both queues, of leaves and of nodes, are sorted.
std::array<unsigned, kMostBits + 1> leaves_by_depth(std::span<Leaf const> leaves, unsigned limit) noexcept {
  std::size_t const n = leaves.size();
  std::array<std::uint64_t, kMostHuffmanSymbols> weight{};  // weights of nodes
  std::array<std::uint16_t, 2 * kMostHuffmanSymbols> parent{};  // leaves first, then nodes
  std::size_t leaf = 0, node = 0;
  auto const take_least = [&](std::size_t made) {
    bool const takes_leaf = leaf < n && (node == made || leaves[leaf].count <= weight[node]);
    std::size_t const index = takes_leaf ? leaf : n + node;
    std::uint64_t const least = takes_leaf ? leaves[leaf].count : weight[node];
    ++(takes_leaf ? leaf : node);
    parent[index] = static_cast<std::uint16_t>(made);
    return least;
  };
  for (std::size_t made = 0; made + 1 < n; ++made) {
    std::uint64_t const first = take_least(made);
    weight[made] = first + take_least(made);
  }
  std::array<std::uint16_t, kMostHuffmanSymbols> depth{};  // depths of nodes; the last is the root
  for (std::size_t i = n - 2; i-- > 0;) { depth[i] = static_cast<std::uint16_t>(depth[parent[n + i]] + 1); }
  std::array<unsigned, kMostBits + 1> found{};
  for (std::size_t i = 0; i < n; ++i) { ++found[std::min<unsigned>(depth[parent[i]] + 1U, limit)]; }
  return found;
}

// Leaves moved up to the limit make the code too large. Each step moves one of them next to a higher leaf, which moves
// down one level: both share that leaf's place, and the place at the limit is free.
void mend(std::array<unsigned, kMostBits + 1>& leaves, unsigned limit) noexcept {
  std::uint32_t taken = 0;
  for (unsigned bits = 1; bits <= limit; ++bits) { taken += leaves[bits] << (limit - bits); }
  for (; taken > (1U << limit); --taken) {
    unsigned above = limit - 1;
    while (leaves[above] == 0) { --above; }
    --leaves[above];
    leaves[above + 1] += 2;
    --leaves[limit];
  }
}

}  // namespace

void huffman_lengths(std::span<std::uint32_t const> counts, unsigned limit_bits,
                     std::span<std::uint8_t> lengths) noexcept {
  std::array<Leaf, kMostHuffmanSymbols> memory;
  std::size_t used = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    lengths[i] = 0;
    if (counts[i] != 0) { memory[used++] = {counts[i], static_cast<std::uint16_t>(i)}; }
  }
  if (used < 2) {
    std::size_t const only = used == 1 ? memory[0].symbol : 0;
    lengths[only] = 1;
    lengths[only == 0 ? 1 : 0] = 1;
    return;
  }
  std::span<Leaf> const leaves(memory.data(), used);
  std::ranges::sort(leaves, [](Leaf const& a, Leaf const& b) {
    return a.count != b.count ? a.count < b.count : a.symbol < b.symbol;
  });
  auto found = leaves_by_depth(leaves, limit_bits);
  mend(found, limit_bits);
  std::size_t rarest = 0;
  for (unsigned bits = limit_bits; bits > 0; --bits) {
    for (unsigned i = 0; i < found[bits]; ++i) { lengths[leaves[rarest++].symbol] = static_cast<std::uint8_t>(bits); }
  }
}

void huffman_codes(std::span<std::uint8_t const> lengths, std::span<std::uint16_t> codes) noexcept {
  std::array<unsigned, kMostBits + 1> count{};
  for (std::uint8_t const length : lengths) { ++count[length]; }
  std::array<unsigned, kMostBits + 1> next{};
  for (unsigned bits = 2; bits <= kMostBits; ++bits) { next[bits] = (next[bits - 1] + count[bits - 1]) << 1; }
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    unsigned code = lengths[i] != 0 ? next[lengths[i]]++ : 0;
    unsigned reversed = 0;
    for (unsigned bit = 0; bit < lengths[i]; ++bit, code >>= 1) { reversed = reversed << 1 | (code & 1U); }
    codes[i] = static_cast<std::uint16_t>(reversed);
  }
}

}  // namespace terrazzo::codec
