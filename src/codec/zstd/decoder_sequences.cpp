// SPDX-License-Identifier: Apache-2.0
#include "codec/zstd/decoder_sequences.hpp"

#include "tile/host/cpu.hpp"

#if TERRAZZO_HAVE_X86

#include "codec/matches/common_length.hpp"
#include "codec/zstd/decoder_bits.hpp"
#include "tile/host/byte_planes_avx2.hpp"

#include <algorithm>
#include <cstring>

namespace terrazzo::codec {

namespace {

using tile::load16;
using tile::load32;
using tile::store16;
using tile::store32;

// Reads the bits of a stream by words. Taking more than there are gives zeros or any bits; overrun() reports it.
class WordBits {
 public:
  [[nodiscard]] bool open(std::span<std::byte const> bytes) noexcept {
    BackwardBits whole;
    if (!whole.open(bytes)) { return false; }
    begin_ = at_ = bytes.data();
    if (bytes.size() < sizeof word_) {
      std::memcpy(&word_, bytes.data(), bytes.size());
    } else {
      at_ += bytes.size() - sizeof word_;
      word_ = load_eight(at_);
    }
    left_ = whole.left() - 8 * (at_ - begin_);
    return true;
  }

  // After it, at least 56 bits can be taken, unless the stream has fewer: only the first word can be overrun.
  void refill() noexcept {
    std::ptrdiff_t const there = at_ - begin_;
    if (there >= 8) [[likely]] {
      at_ -= (63 - left_) >> 3;
      left_ |= 56;
      word_ = load_eight(at_);
    } else if (there > 0) {
      std::ptrdiff_t const bytes = std::min<std::ptrdiff_t>((63 - left_) >> 3, there);
      at_ -= bytes;
      left_ += 8 * bytes;
      word_ = load_eight(at_);
    }
  }
  TERRAZZO_TARGET_AVX2 std::uint32_t take(std::uint32_t count) noexcept {
    left_ -= count;
    return static_cast<std::uint32_t>(_bzhi_u64(word_ >> (left_ & 63), count));
  }
  [[nodiscard]] bool overrun() const noexcept { return left_ < 0; }
  [[nodiscard]] bool at_end() const noexcept { return left_ == 0 && at_ == begin_; }

 private:
  std::byte const* begin_ = nullptr;
  std::byte const* at_ = nullptr;  // address of the word
  std::uint64_t word_ = 0;
  std::int64_t left_ = 0;  // bits of the word, from the lowest on
};

// Bytes that the copies below may write beyond their end.
constexpr std::size_t kOutputSlackBytes = 32;

// Most copies are shorter than 32 bytes; the surplus bytes cost nothing.
TERRAZZO_TARGET_AVX2 inline void copy_literals(std::byte* to, std::byte const* from, std::size_t bytes) noexcept {
  store32(to, load32(from));
  for (std::size_t i = 32; i < bytes; i += 32) { store32(to + i, load32(from + i)); }
}

// For matches that overlap themselves: byte i of a vector is byte i % distance of the previous ones.
struct Patterns {
  alignas(16) std::uint8_t order[16][16];
  std::uint8_t step[16];  // the largest multiple of the pattern's size in the vector
};
constexpr Patterns make_patterns() {
  Patterns patterns{};
  for (unsigned distance = 1; distance < 16; ++distance) {
    for (unsigned i = 0; i < 16; ++i) { patterns.order[distance][i] = static_cast<std::uint8_t>(i % distance); }
    patterns.step[distance] = static_cast<std::uint8_t>(16 - 16 % distance);
  }
  return patterns;
}
constexpr Patterns kPatterns = make_patterns();

// Sixteen at a time: the previous bytes may still be in the store buffer, and longer loads would wait for more of them.
TERRAZZO_TARGET_AVX2 inline void copy_match(std::byte* to, std::size_t distance, std::size_t bytes) noexcept {
  std::byte const* const from = to - distance;
  if (distance >= 16) {
    store16(to, load16(from));
    store16(to + 16, load16(from + 16));
    for (std::size_t i = 32; i < bytes; i += 16) { store16(to + i, load16(from + i)); }
    return;
  }
  auto const order = _mm_load_si128(reinterpret_cast<__m128i const*>(kPatterns.order[distance]));
  __m128i const pattern = _mm_shuffle_epi8(load16(from), order);
  std::size_t const step = kPatterns.step[distance];
  for (std::size_t i = 0; i < bytes; i += step) { store16(to + i, pattern); }
}

}  // namespace

TERRAZZO_TARGET_AVX2 bool run_sequences(SequenceTables const& tables, std::uint32_t count,
                                        std::span<std::byte const> stream, std::span<std::byte const> literals,
                                        LastDistances& last_distances, ZstdOutput& output) noexcept {
  WordBits bits;
  if (!bits.open(stream)) { return false; }
  std::uint32_t literal_state = bits.take(tables.literal_lengths.bits);
  std::uint32_t offset_state = bits.take(tables.offsets.bits);
  std::uint32_t match_state = bits.take(tables.match_lengths.bits);
  std::byte const* literal = literals.data();
  std::byte const* const literals_end = literal + literals.size();
  std::byte* at = output.at;
  auto [last, second_last, third_last] = last_distances;
  while (true) {
    if (bits.overrun()) { return false; }
    SequenceCell const offset = tables.offsets.cells[offset_state];
    SequenceCell const match = tables.match_lengths.cells[match_state];
    SequenceCell const literal_run = tables.literal_lengths.cells[literal_state];
    // One refill is enough for extra bits and states of all but the longest.
    constexpr int kMostStateBits = 9 + 9 + 8;
    bool const is_long = offset.extra_bits + match.extra_bits + literal_run.extra_bits > 56 - kMostStateBits;
    bits.refill();
    std::uint32_t const offset_value = offset.base + bits.take(offset.extra_bits);
    if (is_long) [[unlikely]] { bits.refill(); }
    std::size_t const match_length = match.base + bits.take(match.extra_bits);
    std::size_t const literal_length = literal_run.base + bits.take(literal_run.extra_bits);
    if (is_long) [[unlikely]] { bits.refill(); }
    // Values 1 to 3 stand for the last distances; without literals, for the next older ones and the last minus one
    // (3.1.1.5).
    std::uint32_t distance;
    if (offset_value > 3) {
      distance = offset_value - 3;
      third_last = second_last;
      second_last = last;
      last = distance;
    } else if (std::uint32_t const which = offset_value - (literal_length != 0 ? 1 : 0); which == 0) {
      distance = last;
    } else {
      distance = which == 1 ? second_last : which == 2 ? third_last : last - 1;
      if (which != 1) { third_last = second_last; }
      second_last = last;
      last = distance;
    }
    --count;
    if (count != 0) {
      literal_state = literal_run.next + bits.take(literal_run.next_bits);
      match_state = match.next + bits.take(match.next_bits);
      offset_state = offset.next + bits.take(offset.next_bits);
    }

    if (literal_length > static_cast<std::size_t>(literals_end - literal)) { return false; }
    std::size_t const before = static_cast<std::size_t>(at - output.begin) + literal_length;
    if (std::size_t{distance} - 1 >= before) { return false; }  // a distance of 0 too
    auto const room = static_cast<std::size_t>(output.end - at);
    if (literal_length + match_length + kOutputSlackBytes <= room) [[likely]] {
      copy_literals(at, literal, literal_length);
      copy_match(at + literal_length, distance, match_length);
    } else {
      if (literal_length + match_length > room) { return false; }
      std::memcpy(at, literal, literal_length);
      for (std::size_t i = literal_length; i < literal_length + match_length; ++i) { at[i] = *(at + i - distance); }
    }
    literal += literal_length;
    at += literal_length + match_length;
    if (count == 0) { break; }
  }
  auto const rest = static_cast<std::size_t>(literals_end - literal);
  if (!bits.at_end() || rest > static_cast<std::size_t>(output.end - at)) { return false; }
  std::memcpy(at, literal, rest);
  output.at = at + rest;
  last_distances = {last, second_last, third_last};
  return true;
}

}  // namespace terrazzo::codec

#endif
