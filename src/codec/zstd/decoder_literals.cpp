// SPDX-License-Identifier: Apache-2.0
#include "codec/zstd/decoder_literals.hpp"

#include "tile/host/cpu.hpp"

#if TERRAZZO_HAVE_X86

#include "codec/matches/common_length.hpp"
#include "codec/zstd/decoder_bits.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>

namespace terrazzo::codec {

namespace {

constexpr std::size_t kStreams = CodedLiterals::kMostStreams;

// A word provides at least 55 bits, five codes of the longest: up to eight bits may already be used (a last byte with
// only the mark), and the lowest bit is replaced by a 1. So the word advances by at most seven bytes.
constexpr std::size_t kCodesOfWord = 5, kBytesOfWord = 7;
static_assert(8 + kCodesOfWord * LiteralTable::kMostBits <= 63 && 63 / 8 <= kBytesOfWord);
// libzstd refuses fewer in four streams.
constexpr std::size_t kLeastOfFourStreams = 6;

// A stream that is read a word at a time. `bits` has the next code at the top; below the rest of the word are a 1 and
// zeros, one for each bit that was taken.
struct Stream {
  std::uint64_t bits = 0;
  std::byte const* word = nullptr;  // null: the stream is shorter than a word
  std::byte* to = nullptr;
};

[[nodiscard]] bool open_stream(std::span<std::byte const> bytes, std::span<std::byte> literals,
                               Stream& stream) noexcept {
  BackwardBits whole;
  if (!whole.open(bytes)) { return false; }
  stream.to = literals.data();
  if (bytes.size() < sizeof stream.bits) { return true; }
  stream.word = bytes.data() + bytes.size() - sizeof stream.bits;
  std::uint64_t const taken = 8 * bytes.size() - static_cast<std::uint64_t>(whole.left());
  stream.bits = (load_eight(stream.word) | 1) << taken;
  return true;
}

[[nodiscard]] bool open_streams(CodedLiterals const& block, Stream* streams) noexcept {
  for (std::size_t i = 0; i < block.count; ++i) {
    if (!open_stream(block.streams[i], block.literals[i], streams[i])) { return false; }
  }
  return true;
}

// The number of words that can be taken from every stream before one may end, or run out of room for its literals.
[[nodiscard]] std::size_t safe_rounds(CodedLiterals const& block, Stream const* streams) noexcept {
  std::size_t rounds = std::numeric_limits<std::size_t>::max();
  for (std::size_t i = 0; i < block.count; ++i) {
    if (streams[i].word == nullptr) { return 0; }
    auto const bytes = static_cast<std::size_t>(streams[i].word - block.streams[i].data());
    auto const room = static_cast<std::size_t>(block.literals[i].data() + block.literals[i].size() - streams[i].to);
    rounds = std::min({rounds, bytes / kBytesOfWord, room / kCodesOfWord});
  }
  return rounds;
}

// Decodes `rounds` words of each of `Count` streams, those from the fifth on with the second table. Two codes of each
// in turn: the processor's window then contains work of all streams.
template <std::size_t Count>
TERRAZZO_TARGET_AVX2 void decode_words(LiteralTable const& first, LiteralTable const& second, Stream* streams,
                                       std::size_t rounds) noexcept {
  std::uint64_t bits[Count];  // in registers; the other members are needed less often
  std::byte const* words[Count];
  std::byte* to[Count];
#pragma GCC unroll 8
  for (std::size_t i = 0; i < Count; ++i) {
    bits[i] = streams[i].bits;
    words[i] = streams[i].word;
    to[i] = streams[i].to;
  }
  // Hidden from the compiler, which would copy a word to shift it by a constant.
  std::uint64_t shift = 64 - LiteralTable::kMostBits;
  asm("" : "+r"(shift));
  auto const next = [&](std::size_t i) __attribute__((always_inline)) {
    std::uint32_t const entry = (i < kStreams ? first : second).entries[bits[i] >> (shift & 63)];
    bits[i] <<= entry & 63U;
    return entry;
  };
  auto const put_two = [&](std::size_t i, std::byte * at) __attribute__((always_inline)) {
    std::uint32_t const one = next(i);
    std::uint32_t two = next(i);
    // two = (two & 0xFF00) | one >> 8, in one instruction
    asm("movb %h1, %b0" : "+Q"(two) : "Q"(one));
    auto const both = static_cast<std::uint16_t>(two);
    std::memcpy(at, &both, sizeof both);
  };
  for (std::size_t done = 0; done < rounds * kCodesOfWord; done += kCodesOfWord) {
#pragma GCC unroll 8
    for (std::size_t i = 0; i < Count; ++i) { put_two(i, to[i] + done); }
#pragma GCC unroll 8
    for (std::size_t i = 0; i < Count; ++i) { put_two(i, to[i] + done + 2); }
#pragma GCC unroll 8
    for (std::size_t i = 0; i < Count; ++i) {
      to[i][done + 4] = static_cast<std::byte>(next(i) >> 8);
      auto const taken = static_cast<std::uint64_t>(std::countr_zero(bits[i]));
      words[i] -= taken / 8;
      bits[i] = (load_eight(words[i]) | 1) << (taken & 7);
    }
  }
#pragma GCC unroll 8
  for (std::size_t i = 0; i < Count; ++i) { streams[i] = {bits[i], words[i], to[i] + rounds * kCodesOfWord}; }
}

// Decodes the rest after whole words, code by code.
[[nodiscard]] bool finish_streams(CodedLiterals const& block, Stream const* streams) noexcept {
  for (std::size_t i = 0; i < block.count; ++i) {
    Stream const& stream = streams[i];
    BackwardBits bits;
    if (stream.word == nullptr) {
      if (!bits.open(block.streams[i])) { return false; }
    } else {
      std::int64_t const below = 8 * (stream.word - block.streams[i].data());
      bits = BackwardBits(block.streams[i], below + 64 - std::countr_zero(stream.bits));
    }
    std::byte* const end = block.literals[i].data() + block.literals[i].size();
    for (std::byte* to = stream.to; to < end; ++to) {
      std::uint16_t const entry = block.table->entries[bits.peek(LiteralTable::kMostBits)];
      bits.skip(entry & 63U);
      *to = static_cast<std::byte>(entry >> 8);
    }
    if (bits.left() != 0) { return false; }
  }
  return true;
}

[[nodiscard]] bool decode_rest(CodedLiterals const& block, Stream* streams) noexcept {
  auto const decode = block.count == 1 ? &decode_words<1> : &decode_words<kStreams>;
  while (std::size_t const rounds = safe_rounds(block, streams)) {
    decode(*block.table, *block.table, streams, rounds);
  }
  return finish_streams(block, streams);
}

}  // namespace

bool find_literal_streams(std::span<std::byte const> section, std::size_t count, std::span<std::byte> literals,
                          CodedLiterals& found) noexcept {
  std::size_t const sizes_bytes = 2 * (count - 1), each = (literals.size() + count - 1) / count;
  if (count > 1 && literals.size() < kLeastOfFourStreams) { return false; }
  if (section.size() < sizes_bytes || (count - 1) * each > literals.size()) { return false; }
  found.count = count;
  std::span<std::byte const> rest = section.subspan(sizes_bytes);
  for (std::size_t i = 0; i < count; ++i) {
    bool const is_last = i + 1 == count;
    std::size_t const bytes =
        is_last ? rest.size()
                : std::to_integer<std::size_t>(section[2 * i]) | std::to_integer<std::size_t>(section[2 * i + 1]) << 8;
    if (bytes > rest.size()) { return false; }
    found.streams[i] = rest.first(bytes);
    found.literals[i] = is_last ? literals.subspan(i * each) : literals.subspan(i * each, each);
    rest = rest.subspan(bytes);
  }
  return true;
}

bool decode_literals(CodedLiterals const& block) noexcept {
  Stream streams[kStreams];
  return open_streams(block, streams) && decode_rest(block, streams);
}

bool decode_literals(CodedLiterals const& first, CodedLiterals const& second) noexcept {
  Stream streams[2 * kStreams];
  Stream* const others = streams + kStreams;
  if (!open_streams(first, streams) || !open_streams(second, others)) { return false; }
  while (std::size_t const rounds = std::min(safe_rounds(first, streams), safe_rounds(second, others))) {
    decode_words<2 * kStreams>(*first.table, *second.table, streams, rounds);
  }
  return decode_rest(first, streams) && decode_rest(second, others);
}

}  // namespace terrazzo::codec

#endif
