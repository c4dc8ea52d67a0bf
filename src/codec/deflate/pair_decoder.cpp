// SPDX-License-Identifier: Apache-2.0
#include "codec/deflate/pair_decoder.hpp"

#include "codec/matches/common_length.hpp"
#include "tile/host/cpu.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#if TERRAZZO_HAVE_X86
#include <immintrin.h>
#endif

namespace terrazzo::codec {

#if TERRAZZO_HAVE_X86

namespace {

constexpr std::uint32_t kStored = 0, kFixed = 1, kOwn = 2;  // block types (3.2.3)

// Maximum input and output of a step: two codes with the extra bits of a length and a distance, and a match. A match
// after a literal in the same step is short.
constexpr std::size_t kStepBits = 2 * coding::kDeflateMostBits + 5 + 13, kStepBytes = coding::kDeflateLongestMatch;
static_assert(kStepBits <= ForwardBits::kMostBits);
// Surplus bytes that a step may read and write.
constexpr std::size_t kWordBytes = sizeof(std::uint64_t), kCopyBytes = sizeof(__m128i);

[[nodiscard]] std::uint64_t bits_at(std::byte const* in, std::uint64_t bit) noexcept {
  return load_eight(in + bit / 8) >> (bit % 8);
}

[[nodiscard]] std::uint64_t lowest(std::uint64_t bits, std::uint32_t count) noexcept {
  return bits & ((std::uint64_t{1} << count) - 1);
}

// Copies a match byte by byte, because it may overlap its own output.
void copy_bytes(std::byte* to, std::size_t distance, std::size_t length) noexcept {
  for (std::size_t i = 0; i < length; ++i) { to[i] = *(to + i - distance); }
}

// Copies kCopyBytes at a time, the last of them past the end. REQUIRES: a distance.
void copy_long(std::byte* to, std::size_t distance, std::size_t length) noexcept {
  std::size_t copied = 0;
  if (distance < kCopyBytes) {
    // The copied bytes repeat, so after the first period any multiple of the distance is equivalent.
    copy_bytes(to, distance, kCopyBytes);
    copied = kCopyBytes;
    distance *= (kCopyBytes + distance - 1) / distance;
  }
  for (; copied < length; copied += kCopyBytes) {
    __m128i const bytes = _mm_loadu_si128(reinterpret_cast<__m128i const*>(to + copied - distance));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + copied), bytes);
  }
}

// A symbol of any kind, decoded from complete bits.
struct Symbol {
  enum class Kind : std::uint8_t { bytes, end_of_block, bad };
  Kind kind = Kind::bytes;
  bool has_literal = false;
  std::byte literal{};
  std::uint32_t length = 0, distance = 0, bits = 0;

  static Symbol read(DeflateTables const& tables, std::uint64_t bits) noexcept {
    Symbol symbol;
    SymbolEntry entry = tables.symbols.first(bits);
    if ((entry.word & SymbolEntry::kIsLink) != 0) { entry = tables.symbols.second(entry, bits); }
    symbol.bits = entry.bits();
    if ((entry.word & SymbolEntry::kIsRare) == 0) {
      symbol.has_literal = entry.literals() != 0;
      symbol.literal = static_cast<std::byte>(entry.literal());
      symbol.length = entry.length();
      if (symbol.length == 0) { return symbol; }
    } else if ((entry.word & SymbolEntry::kIsLong) != 0) {
      std::uint64_t const extra = lowest(bits >> entry.bits(), entry.extra_bits());
      symbol.length = entry.least_length() + static_cast<std::uint32_t>(extra);
      symbol.bits += entry.extra_bits();
    } else {
      symbol.kind = (entry.word & SymbolEntry::kIsEnd) != 0 ? Kind::end_of_block : Kind::bad;
      return symbol;
    }
    std::uint64_t const rest = bits >> symbol.bits;
    DistanceEntry distance = tables.distances.first(rest);
    if ((distance.word & DistanceEntry::kIsRare) != 0 && distance.link() != 0) {
      distance = tables.distances.second(distance, rest);
    }
    if ((distance.word & DistanceEntry::kIsRare) != 0) {
      symbol.kind = Kind::bad;
      return symbol;
    }
    std::uint64_t const extra = lowest(rest, distance.bits()) >> distance.code_bits();
    symbol.distance = distance.least() + static_cast<std::uint32_t>(extra);
    symbol.bits += distance.bits();
    return symbol;
  }
};

}  // namespace

bool DeflatePair::is_fast_here() noexcept { return tile::has_avx2(); }

bool DeflatePair::is_for(std::span<std::byte const> in) noexcept {
  ForwardBits bits(in);
  bits.skip(1);  // the flag for the last block
  DeflateLengths lengths;
  if (bits.take(2) != kOwn || !lengths.read(bits)) { return false; }
  // A code of n bits is for a symbol that occurs once in 2^n.
  std::uint32_t short_matches = 0, long_matches = 0;
  for (std::uint32_t symbol = coding::kDeflateFirstLength; symbol < coding::kDeflateLiteralSymbols; ++symbol) {
    if (lengths.symbols[symbol] == 0) { continue; }
    std::uint32_t const share = 1U << (coding::kDeflateMostBits - lengths.symbols[symbol]);
    (coding::least_length(symbol) <= SymbolEntry::kLongestShort ? short_matches : long_matches) += share;
  }
  constexpr std::uint32_t kAll = 1U << coding::kDeflateMostBits;
  return short_matches >= kAll / 4 && long_matches <= kAll / 32;
}

bool DeflatePair::begin_block(Stream& stream) noexcept {
  // Building tables takes as long as decoding some kilobytes: libdeflate decodes streams of many small blocks,
  // including streams made of nothing else.
  constexpr std::size_t kFreeBlocks = 64, kLeastBlockBytes = 4096;
  auto const made = static_cast<std::size_t>(stream.to - stream.out);
  if (++stream.blocks > kFreeBlocks + made / kLeastBlockBytes) { return false; }
  stream.is_last = stream.bits.take(1) != 0;
  std::uint32_t const kind = stream.bits.take(2);
  if (stream.bits.is_past_end()) { return false; }
  if (kind == kStored) { return copy_stored(stream); }
  DeflateLengths lengths;
  if (kind == kFixed) {
    lengths.set_fixed();
  } else if (kind != kOwn || !lengths.read(stream.bits)) {
    return false;
  }
  stream.is_in_block = true;
  return stream.tables.make(lengths);
}

bool DeflatePair::copy_stored(Stream& stream) noexcept {
  stream.bits.skip_to_byte();
  std::uint32_t const bytes = stream.bits.take(16), inverse = stream.bits.take(16);
  std::uint64_t const at = stream.bits.at_bit() / 8;
  if (bytes != (inverse ^ 0xFFFF) || stream.bits.is_past_end()) { return false; }
  if (bytes > stream.in.size() - at || bytes > static_cast<std::size_t>(stream.end - stream.to)) { return false; }
  stream.to = std::copy_n(stream.in.data() + at, bytes, stream.to);
  stream.bits.skip(8 * std::uint64_t{bytes});
  return true;
}

// Handles a rare kind of step.
DeflatePair::Step DeflatePair::rare_step(Stream const& stream, Place& place) noexcept {
  Symbol const symbol = Symbol::read(stream.tables, bits_at(stream.in.data(), place.bit));
  place.bit += symbol.bits;
  if (symbol.kind == Symbol::Kind::end_of_block) { return Step::end_of_block; }
  if (symbol.kind == Symbol::Kind::bad) { return Step::bad; }
  *place.to = symbol.literal;
  place.to += symbol.has_literal ? 1 : 0;
  if (symbol.distance > static_cast<std::size_t>(place.to - stream.out)) { return Step::bad; }
  if (symbol.length != 0) { copy_long(place.to, symbol.distance, symbol.length); }
  place.to += symbol.length;
  return Step::more;
}

// The number of steps that need no checks. REQUIRES: the place is not past the end.
std::size_t DeflatePair::safe_steps(Stream const& stream, Place const& place) noexcept {
  std::size_t const in_bytes = stream.in.size() - place.bit / 8;
  auto const out_bytes = static_cast<std::size_t>(stream.end - place.to);
  if (in_bytes < kWordBytes || out_bytes < kCopyBytes) { return 0; }
  return std::min((in_bytes - kWordBytes) * 8 / kStepBits, (out_bytes - kCopyBytes) / kStepBytes);
}

// Runs until a block ends, or a stream has no room. Returns false if a stream is damaged.
template <std::size_t kCount>
TERRAZZO_TARGET_AVX2 bool DeflatePair::decode_quickly(std::array<Stream*, kCount> const& streams) noexcept {
  // In registers: if their address were known, any byte store could change them.
  Place places[kCount];
  std::byte const *in[kCount], *out[kCount];
  DeflateTables const* tables[kCount];
  for (std::size_t i = 0; i < kCount; ++i) {
    places[i] = place_of(*streams[i]);
    in[i] = streams[i]->in.data();
    out[i] = streams[i]->out;
    tables[i] = &streams[i]->tables;
  }
  auto const hand_back = [&] {
    for (std::size_t i = 0; i < kCount; ++i) {
      streams[i]->bits = ForwardBits(streams[i]->in, places[i].bit);
      streams[i]->to = places[i].to;
    }
  };
  // One step of stream `i`: normally a literal, a match of one word, or both. A missing part takes no bits and makes no
  // bytes.
  auto const step = [&](std::size_t i) __attribute__((always_inline)) {
    std::uint64_t bits = bits_at(in[i], places[i].bit);
    SymbolEntry const symbol = tables[i]->symbols.first(bits);
    bits >>= symbol.word & 63;
    static_assert(SymbolEntry::kHasMatch == 1U << 31);
    auto const if_match = static_cast<std::uint32_t>(static_cast<std::int32_t>(symbol.word) >> 31);
    DistanceEntry const known{tables[i]->distances.first(bits).word & if_match};
    bool const is_rare = (symbol.word & SymbolEntry::kIsRare) != 0 || (known.word & DistanceEntry::kIsRare) != 0;
    if (__builtin_expect(is_rare, false)) {
      Place place = places[i];
      Step const done = rare_step(*streams[i], place);
      places[i] = place;
      return done;
    }
    places[i].bit += symbol.bits();
    places[i].bit += known.bits();
    *places[i].to = static_cast<std::byte>(symbol.literal());
    places[i].to += symbol.literals();
    std::uint32_t const length = symbol.length();
    std::uint64_t const distance = known.least() + (lowest(bits, known.bits()) >> known.code_bits());
    std::byte* const to = places[i].to;
    places[i].to += length;
    if (__builtin_expect(distance > static_cast<std::size_t>(to - out[i]), false)) { return Step::bad; }
    if (__builtin_expect(distance < length, false)) {
      copy_bytes(to, distance, length);
    } else {
      std::uint64_t const word = load_eight(to - distance);  // without a match: the bytes that are already there
      std::memcpy(to, &word, sizeof word);
    }
    return Step::more;
  };
  for (;;) {
    std::size_t steps = std::numeric_limits<std::size_t>::max();
    for (std::size_t i = 0; i < kCount; ++i) { steps = std::min(steps, safe_steps(*streams[i], places[i])); }
    if (steps == 0) {
      hand_back();
      return true;
    }
    do {
#pragma GCC unroll 2
      for (std::size_t i = 0; i < kCount; ++i) {
        Step const done = step(i);
        if (__builtin_expect(done != Step::more, false)) {
          if (done == Step::end_of_block) { streams[i]->is_in_block = false; }
          hand_back();
          return done == Step::end_of_block;
        }
      }
    } while (--steps > 0);
  }
}

// Decodes symbol by symbol, with every bound checked.
bool DeflatePair::finish_block(Stream& stream) noexcept {
  for (;;) {
    Symbol const symbol = Symbol::read(stream.tables, stream.bits.peek());
    stream.bits.skip(symbol.bits);
    if (symbol.kind == Symbol::Kind::bad || stream.bits.is_past_end()) { return false; }
    if (symbol.kind == Symbol::Kind::end_of_block) {
      stream.is_in_block = false;
      return true;
    }
    std::size_t const literals = symbol.has_literal ? 1 : 0;
    if (literals + symbol.length > static_cast<std::size_t>(stream.end - stream.to)) { return false; }
    if (symbol.has_literal) { *stream.to++ = symbol.literal; }
    if (symbol.distance > static_cast<std::size_t>(stream.to - stream.out)) { return false; }
    copy_bytes(stream.to, symbol.distance, symbol.length);
    stream.to += symbol.length;
  }
}

bool DeflatePair::finish(Stream& stream) noexcept {
  while (stream.is_in_block || !stream.is_last) {
    if (!stream.is_in_block) {
      if (!begin_block(stream)) { return false; }
    } else if (safe_steps(stream, place_of(stream)) > 0) {
      if (!decode_quickly<1>({&stream})) { return false; }
    } else if (!finish_block(stream)) {
      return false;
    }
  }
  return stream.to == stream.end && !stream.bits.is_past_end() && (stream.bits.at_bit() + 7) / 8 == stream.in.size();
}

bool DeflatePair::decode(std::array<DeflateTile, 2> const& tiles) noexcept {
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    Stream& stream = streams_[i];
    stream.in = tiles[i].in;
    stream.bits = ForwardBits(stream.in);
    stream.out = stream.to = tiles[i].out.data();
    stream.end = stream.out + tiles[i].out.size();
    stream.blocks = 0;
    stream.is_in_block = stream.is_last = false;
  }
  auto& [first, second] = streams_;
  for (;;) {
    for (Stream& stream : streams_) {
      while (!stream.is_in_block && !stream.is_last) {
        if (!begin_block(stream)) { return false; }
      }
    }
    bool const are_both_in_block = first.is_in_block && second.is_in_block;
    if (!are_both_in_block || safe_steps(first, place_of(first)) == 0 || safe_steps(second, place_of(second)) == 0) {
      break;
    }
    if (!decode_quickly<2>({&first, &second})) { return false; }
  }
  return finish(first) && finish(second);
}

#else

bool DeflatePair::is_fast_here() noexcept { return false; }
bool DeflatePair::is_for(std::span<std::byte const>) noexcept { return false; }
bool DeflatePair::decode(std::array<DeflateTile, 2> const&) noexcept { return false; }

#endif

}  // namespace terrazzo::codec
