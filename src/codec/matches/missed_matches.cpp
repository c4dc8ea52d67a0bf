// SPDX-License-Identifier: Apache-2.0
#include "codec/matches/missed_matches.hpp"

#include "tile/byte_swap.hpp"

#include <algorithm>
#include <bit>

namespace terrazzo::codec {

namespace {

constexpr unsigned kHashBits = 14;
constexpr std::size_t kLearned = std::size_t{16} << 10;  // bytes before, whose positions are inserted first
constexpr std::size_t kLooked = std::size_t{8} << 10;    // the literals of these following bytes are checked
constexpr std::size_t kTail = 32;                        // at either end: no read outside the block
constexpr std::size_t kShortest = 3, kLongest = 16;
constexpr unsigned kMatchBits = 10;  // cost of length and distance, without the extra bits of the distance
constexpr double kMost = 0.010;      // fraction of the bits: separates blocks that grow by less than 1 % from others
constexpr std::size_t kFewBlocks = 4;

// Loads three bytes in the upper bits.
std::uint32_t load_three(std::byte const* from) noexcept {
  auto const value = tile::load_unaligned<std::uint32_t>(from);
  return std::endian::native == std::endian::little ? value << 8 : value & 0xFFFF'FF00U;
}

std::size_t hash_of(std::uint32_t three) noexcept { return three * 0x9E37'79B1U >> (32 - kHashBits); }

}  // namespace

MissedMatches::MissedMatches() : newest_(std::size_t{1} << kHashBits) {}

void MissedMatches::start() noexcept {
  saved_bits_ = bits_ = 0;
  blocks_ = 0;
}

void MissedMatches::learn(std::byte const* in, std::size_t from, std::size_t to) noexcept {
  for (; from < to; ++from) { newest_[hash_of(load_three(in + from))] = static_cast<std::uint16_t>(from); }
}

void MissedMatches::add(std::span<std::byte const> block, std::span<DeflateMatch const> matches,
                        DeflateCost const& cost) noexcept {
  if (block.size() <= 2 * kTail) { return; }
  std::byte const* const in = block.data();
  std::size_t const bytes = std::min(block.size() - 2 * kTail, kLearned + kLooked);
  std::size_t const first = (block.size() - bytes) / 2, end = first + bytes;
  std::size_t const looked = end - bytes * kLooked / (kLearned + kLooked);
  // Empty cells contain the first position, so that every cell is a position of the piece.
  std::ranges::fill(newest_, static_cast<std::uint16_t>(first));
  learn(in, first + 1, looked);
  std::size_t at = looked, literals = 0;  // start of the literals before a match
  for (std::size_t i = 0; at < end; ++i) {
    bool const is_last = i == matches.size();
    std::size_t const match = is_last ? block.size() : literals + matches[i].literals;
    while (at < std::min(match, end)) {
      std::uint32_t const three = load_three(in + at);
      std::uint16_t& newest = newest_[hash_of(three)];
      std::size_t const distance = ((at - 1 - newest) & (kFarthestMatch - 1)) + 1;
      newest = static_cast<std::uint16_t>(at);
      std::size_t const from = at++;
      if (load_three(in + from - distance) != three) { continue; }
      std::size_t const most = std::min(kLongest, match - from);
      std::size_t length = 0;
      unsigned literal_bits = 0;
      for (; length < most && in[from + length] == in[from + length - distance]; ++length) {
        literal_bits += cost.literal_bits[std::to_integer<std::size_t>(in[from + length])];
      }
      unsigned const match_bits = kMatchBits + static_cast<unsigned>(std::bit_width((distance - 1) / 4));
      if (length < kShortest || literal_bits <= match_bits) { continue; }
      saved_bits_ += literal_bits - match_bits;
      learn(in, at, from + length);
      at = from + length;
    }
    if (is_last) { break; }
    literals = match + matches[i].length;
    if (at < literals) {
      learn(in, at, std::min(literals, end));
      at = literals;
    }
  }
  bits_ += cost.block_bits * (end - looked) / block.size();
  ++blocks_;
}

bool MissedMatches::too_many(bool more_to_come) const noexcept {
  // A single piece is weak evidence: assume that the pieces still to come miss nothing.
  auto const counted = static_cast<double>(more_to_come && blocks_ < kFewBlocks ? kFewBlocks : blocks_);
  return static_cast<double>(saved_bits_) * static_cast<double>(blocks_) > kMost * counted * static_cast<double>(bits_);
}

}  // namespace terrazzo::codec
